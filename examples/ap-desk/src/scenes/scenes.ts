import type { Caller } from '@sluice/core'
import { APPROVALS_ENABLED } from '../desk/control-table.js'
import type { Scene } from './scene.js'

const clerk: Caller = { user: 'petra.k', audience: 'authenticated' }
const subject = { invoice: 'INV-1002', vendor: 'V-77' }
const bound = { ...subject, clerk: 'petra.k' }
const approve = 'Please approve invoice INV-1002.'

/** The scenes in their order. Each begins with the desk in its first state. */
export const SCENES: readonly Scene[] = [
  {
    code: 'tools-called',
    title: 'Tools are called',
    question: 'Is invoice INV-1002 open, and is its vendor V-77 blocked?',
    caller: clerk,
    runContext: bound,
    fixture: { testkit: 'several-calls' },
    expected: 'completed',
  },
  {
    code: 'write-approved',
    title: 'A write passes the gates',
    question: 'Please look at invoice INV-1002 and approve it.',
    caller: clerk,
    runContext: bound,
    fixture: { own: 'write-approved' },
    expected: 'completed',
  },
  {
    code: 'human-decides',
    title: 'A large write waits for a second person',
    question: 'Please approve invoice INV-2040.',
    caller: clerk,
    runContext: { ...bound, invoice: 'INV-2040' },
    fixture: { own: 'human-decides' },
    decision: { decision: 'approve', by: 'ap.lead', note: 'The goods have arrived.' },
    expected: 'completed',
  },
  {
    code: 'no-clerk',
    title: 'Vetoed: no clerk is named',
    question: approve,
    // a job starts this one, in nobody's name
    caller: { audience: 'db' },
    runContext: subject,
    fixture: { testkit: 'veto' },
    expected: 'AP_CLERK_REQUIRED',
  },
  {
    code: 'switched-off',
    title: 'Vetoed: approvals are switched off',
    question: approve,
    caller: clerk,
    runContext: bound,
    fixture: { testkit: 'veto' },
    prepare: (desk) => desk.controls.write(APPROVALS_ENABLED, 'N'),
    expected: 'AP_SWITCHED_OFF',
  },
  {
    code: 'second-attempt',
    title: 'Vetoed: a second attempt, which takes the first write back',
    question: 'Please approve invoice INV-1002, then approve it once more to be sure.',
    caller: clerk,
    runContext: bound,
    fixture: { own: 'second-attempt' },
    expected: 'AP_SECOND_ATTEMPT',
  },
  {
    code: 'rollback',
    title: 'Rolled back: the code breaks after a write',
    question: approve,
    caller: clerk,
    runContext: bound,
    fixture: { testkit: 'handler-failure' },
    // the approval is written first, then the ledger refuses the posting
    prepare: (desk) => desk.books.closePeriod('2026-01'),
    expected: 'TOOL_FAILED',
  },
]
