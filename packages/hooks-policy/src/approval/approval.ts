import { appliesTo, definePlugin, Stage } from '@sluice/core'
import { z } from 'zod'
import { codesSchema, narrowingFields } from '../rules/narrowing.js'
import type { ApprovalRecord } from './approval-record.js'
import type { MayDecide } from './human-gate.js'
import { createHumanGate } from './human-gate.js'

const DAY_MS = 86_400_000

/** Fields of the options of everything that asks a human. */
export const humanFields = {
  /** How long an approval lasts, in milliseconds from the question on; the call has to have begun by then. */
  expiresIn: z.number().int().min(1).default(DAY_MS),
  mayDecide: z.custom<MayDecide>((value) => typeof value === 'function', 'must be a function').optional(),
  /** Seals the records, so that nobody without it can write one. */
  key: z.string().min(32).optional(),
  /** Questions that one run, with all below it, may ask. */
  maxAsks: z.number().int().min(0).default(20),
}

/** What `runtime.plugin(approval)` gives. */
export interface ApprovalApi {
  /** The approvals of a run by the id of its top-level execution: what was asked, who decided and when, and what came of it. */
  list(rootExecutionId: string): Promise<readonly (ApprovalRecord | 'forged')[]>
}

/**
 * Has a human decide about each call of the named tools: the run pauses, somebody answers with `runtime.decide`, any process
 * carries it on with `runtime.resume`. An approval is for one execution of one call with these arguments, for this caller, run
 * context, agent version and tool definition, and until it expires.
 */
export const approval = definePlugin({
  name: 'hooks-policy/approval',
  hookApi: 1,
  options: z.strictObject({ tools: codesSchema, ...narrowingFields, ...humanFields }),
  apply(hooks, host): { api: ApprovalApi } {
    const { tools, agent, standalone, ...options } = host.options
    const guarded = appliesTo({ tool: tools, standalone, ...(agent === undefined ? {} : { agent }) })
    const human = createHumanGate(host, options)
    hooks.inspectToolInput.tapPromise({ name: 'approval', stage: Stage.approve }, async (context) => {
      if (guarded(context)) await human.ask(context, { code: 'APPROVAL_REQUIRED', details: {} })
    })
    hooks.afterToolCall.tapPromise('approval', async (context) => {
      if (guarded(context) && context.outcome === 'not_run' && context.sent === 'no') await human.closed(context)
    })
    hooks.afterExecution.tapPromise('approval', ({ rootExecutionId }) => human.ended(rootExecutionId))
    return { api: { list: (rootExecutionId) => human.list(rootExecutionId) } }
  },
})
