import { definePlugin, getExecutionContext, runContextValue, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { APPROVALS_ENABLED, openControlTable } from '../desk/control-table.js'

/**
 * The three rules of the desk about its one tool that writes. In this order, and the first that says no ends the run:
 *
 * 1. `AP_SWITCHED_OFF`: approvals have to be switched on in the control table, which is read at each call.
 * 2. `AP_CLERK_REQUIRED`: the run context has to name a clerk.
 * 3. `AP_SECOND_ATTEMPT`: one attempt a run. Attempts are counted, not successes, and only those that pass 1 and 2.
 */
export const deskRules = definePlugin({
  name: 'desk-rules',
  hookApi: 1,
  version: '1.0.0',
  options: z.object({
    /** Database file of the control table. */
    controlFile: z.string(),
    agent: z.string().default('ap_desk'),
    tool: z.string().default('ap_approve_invoice'),
  }),
  apply(hooks, host) {
    const { controlFile, agent, tool } = host.options
    const controls = openControlTable(controlFile)
    hooks.beforeToolCall.tap({ name: 'three-rules', stage: Stage.policy }, (call) => {
      // A hook sees every agent of the runtime, so narrowing comes first. A call outside any agent has no agent code; it
      // reaches the same books, so the rules apply to it too: `agentCode !== agent` alone would let it through.
      if (call.toolCode !== tool || (call.agentCode !== null && call.agentCode !== agent)) return

      if (controls.read(APPROVALS_ENABLED) !== 'Y') {
        throw new Veto('AP_SWITCHED_OFF', 'Approvals are switched off.')
      }
      const clerk = runContextValue(getExecutionContext().runContext, 'clerk')
      if (clerk === null || clerk.trim() === '') {
        throw new Veto('AP_CLERK_REQUIRED', 'A named clerk is required.')
      }
      // State of the run begins empty with each run, also with each call outside any agent, and ends with it: the counter
      // needs no reset. A gate may be asked about one call more than once, so what is kept is which call it was.
      if (host.run === undefined) throw new Error('There is no run to count in.')
      const first = host.run.state.update((current) => current ?? call.effectId)
      if (first !== call.effectId) {
        throw new Veto('AP_SECOND_ATTEMPT', 'One approval may be attempted in a run, and this is another one.', {
          first,
          second: call.effectId,
        })
      }
    })
    return { dispose: () => controls.close() }
  },
})
