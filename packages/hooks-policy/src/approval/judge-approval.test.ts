import type { Decision } from '@sluice/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApprovalRecord, ApprovalState } from './approval-record.js'
import { judgeApproval } from './judge-approval.js'

const ROOT = 'run-1'
const BOUNDS = { expiresIn: 100, maxAsks: 5 }
/** Where each state may go to; a use that came to nothing is taken back by the closing observer, not here. */
const NEXT: Readonly<Record<ApprovalState, readonly ApprovalState[]>> = {
  pending: ['pending', 'consumed', 'denied', 'expired'],
  granted: ['granted', 'consumed', 'expired'],
  consumed: ['consumed'],
  denied: ['denied'],
  expired: ['expired'],
}

const decision: fc.Arbitrary<Decision | undefined> = fc.option(
  fc.record({
    decision: fc.constantFrom('approve' as const, 'deny' as const),
    by: fc.constantFrom('boss', 'petra.k', 'expiry'),
    note: fc.constant(null),
    at: fc.integer({ min: 0, max: 50 }),
  }),
  { nil: undefined },
)
const asking = fc.record({
  decision,
  mayDecide: fc.boolean(),
  attempt: fc.integer({ min: 1, max: 3 }),
  text: fc.constantFrom('a', 'a', 'a', 'b'),
  wait: fc.integer({ min: 0, max: 40 }),
  notRun: fc.boolean(),
})

describe('judgeApproval', () => {
  it('over any sequence of askings: nothing runs without a yes to the open question of these arguments, in time, once', () => {
    let passes = 0
    fc.assert(
      fc.property(fc.array(asking, { maxLength: 12 }), (askings) => {
        let record: ApprovalRecord | undefined
        let asks = 0
        let at = 0
        for (const { decision: given, mayDecide, attempt, text, wait, notRun } of askings) {
          at += wait
          const before = record
          const facts = {
            rootExecutionId: ROOT,
            effectId: `${ROOT}/m1.t1`,
            attempt,
            binding: { arguments: text },
            shown: text,
            decision: given,
            mayDecide,
          }
          const step = judgeApproval(before, asks, at, facts, BOUNDS)
          // asked again for the same, it says the same
          const again = judgeApproval(step.record, step.asks, at, facts, BOUNDS)
          if (step.verdict.kind === 'pass') {
            passes += 1
            expect(again.verdict.kind).toBe('pass')
            expect(again.record).toBe(step.record)
            expect(step.record?.decision?.decision).toBe('approve')
            expect(step.record?.binding.arguments).toBe(text)
            expect(step.record?.consumed?.attempt).toBe(attempt)
            if (before?.state === 'pending') {
              expect(mayDecide).toBe(true)
              expect(at).toBeLessThan(before.expiresAt)
            }
            if (before?.state === 'consumed') expect(before.consumed?.attempt).toBe(attempt)
          } else {
            expect(again.verdict.kind === 'pass').toBe(false)
          }
          if (before !== undefined && step.record !== undefined) expect(NEXT[before.state]).toContain(step.record.state)
          expect(step.asks).toBeLessThanOrEqual(BOUNDS.maxAsks)
          record = step.record
          asks = step.asks
          if (notRun && record?.state === 'consumed' && record.consumed?.attempt === attempt)
            record = { ...record, state: 'granted', consumed: null }
        }
      }),
      { numRuns: 5_000 },
    )
    expect(passes).toBeGreaterThan(500)
  })
})
