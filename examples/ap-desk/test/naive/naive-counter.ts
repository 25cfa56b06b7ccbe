import { definePlugin, Veto } from '@sluice/core'

/**
 * How rule 3 is written at first, and wrong: a counter in the plugin, reset where a run begins. It must fail. It bounds the
 * runtime and not the run, because calls outside any agent begin without `beforeExecution`; a run that begins meanwhile
 * resets the count of another; and a call that a human has to approve is counted each time its gate is asked.
 */
export const naiveCounter = definePlugin({
  name: 'naive-counter',
  hookApi: 1,
  apply(hooks) {
    let attempts = 0
    hooks.beforeExecution.tap('reset', () => {
      attempts = 0
    })
    hooks.beforeToolCall.tap('count', (call) => {
      if (call.toolCode !== 'ap_approve_invoice') return
      attempts += 1
      if (attempts > 1) throw new Veto('AP_SECOND_ATTEMPT', 'One approval may be attempted in a run.')
    })
  },
})
