import { appliesTo, definePlugin, getExecutionContext, runContextValue, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { codeSchema, codesSchema, narrowingFields } from './narrowing.js'

const keysSchema = z.array(codeSchema).min(1)
const optionsSchema = z.union([
  keysSchema.transform((keys) => ({ keys, tool: undefined, agent: undefined, standalone: 'include' as const })),
  z.strictObject({ keys: keysSchema, tool: codesSchema.optional(), ...narrowingFields }),
])

/**
 * Stops a run whose context lacks one of the keys, before its first request to a model and before each tool call; with `tool`,
 * only before calls of that tool. An empty text counts as lacking. The context is what the application bound; the model never
 * writes it.
 *
 * @example
 * requireContext(['clerk'])
 * requireContext({ keys: ['clerk'], agent: 'ap_desk', tool: 'ap_approve_invoice' })
 */
export const requireContext = definePlugin({
  name: 'hooks-policy/require-context',
  hookApi: 1,
  options: optionsSchema,
  apply(hooks, host) {
    const { keys, tool, agent, standalone } = host.options
    const guarded = appliesTo({
      standalone,
      ...(agent === undefined ? {} : { agent }),
      ...(tool === undefined ? {} : { tool }),
    })
    const check = (context: { readonly agentCode: string | null; readonly toolCode?: string }): void => {
      if (!guarded(context)) return
      const { runContext } = getExecutionContext()
      const missing = keys.filter((key) => (runContextValue(runContext, key) ?? '').trim() === '')
      if (missing.length === 0) return
      const names = missing.map((key) => JSON.stringify(key)).join(', ')
      throw new Veto('CONTEXT_REQUIRED', `The run context lacks ${names}; bind it in runContext.`, { missing })
    }
    const options = { name: 'require-context', stage: Stage.identity }
    if (tool === undefined) hooks.beforeModelCall.tap(options, ({ agentCode }) => check({ agentCode }))
    hooks.beforeToolCall.tap(options, check)
  },
})
