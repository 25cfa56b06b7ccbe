import { definePlugin, Stage, Veto } from '@sluice/core'
import { z } from 'zod'

/**
 * A sound plugin for the tests of `describeHookPlugin`: counts model calls of a run in its state, held per effect, and tool
 * calls per user in its storage; stops at a bound of each.
 */
export const deskLimit = definePlugin({
  name: 'desk-limit',
  hookApi: 1,
  options: z.strictObject({ modelCalls: z.number().int().positive(), toolCalls: z.number().int().positive() }),
  apply(hooks, host) {
    hooks.beforeModelCall.tap({ name: 'count', stage: Stage.limit }, (context) => {
      const asked = host.run?.state.update((current) => {
        const known = (current ?? []) as string[]
        return known.includes(context.effectId) ? known : [...known, context.effectId]
      })
      if ((asked?.length ?? 0) > host.options.modelCalls) throw new Veto('TOO_MANY_CALLS', 'Too many model calls.')
    })
    hooks.inspectToolInput.tapPromise({ name: 'reserve', stage: Stage.reserve }, async (context) => {
      const key = ['calls', context.createdBy ?? 'nobody']
      const calls = await host.storage.documents.update(key, (current) => {
        const known = (current ?? []) as string[]
        return known.includes(context.effectId) ? current : [...known, context.effectId]
      })
      if ((calls as string[]).length > host.options.toolCalls) throw new Veto('TOO_MANY_TOOLS', 'Too many tool calls.')
    })
    hooks.afterExecution.tapPromise('note', async (context) => {
      await host.storage.log.append('ends', (tail) =>
        (tail?.value as string) === context.executionId ? [] : [context.executionId],
      )
    })
  },
})
