import { definePlugin, getExecutionContext, Veto } from '@sluice/core'

/**
 * The obvious narrowing, and wrong: the agent code of a call outside any agent is `null`, which is not `ap_desk` either, so
 * the rule lets through exactly the calls that nobody watches. It must fail.
 */
export const naiveNarrowing = definePlugin({
  name: 'naive-narrowing',
  hookApi: 1,
  apply(hooks) {
    hooks.beforeToolCall.tap('clerk', (call) => {
      if (call.toolCode !== 'ap_approve_invoice' || call.agentCode !== 'ap_desk') return
      if (getExecutionContext().runContext.clerk === undefined) {
        throw new Veto('AP_CLERK_REQUIRED', 'A named clerk is required.')
      }
    })
  },
})
