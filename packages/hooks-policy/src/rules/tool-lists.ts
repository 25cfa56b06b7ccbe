import type { Hooks } from '@sluice/core'
import { appliesTo, definePlugin, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { codeSchema, narrowingFields } from './narrowing.js'

const plain = (tools: string[]) => ({ tools, agent: undefined, standalone: 'include' as const })
const listSchema = (codes: z.ZodArray<typeof codeSchema>) =>
  z.union([codes.transform(plain), z.strictObject({ tools: codes, ...narrowingFields })])

/**
 * Lets only the named tools run; an empty list lets none. Hosted tools, which run at the provider and pass no tool gate, are
 * stopped before the request that offers them.
 *
 * @example
 * allowTools(['ap_get_invoice', 'ap_get_vendor'])
 * allowTools({ tools: ['search'], agent: 'helper' })
 */
export const allowTools = definePlugin({
  name: 'hooks-policy/allow-tools',
  hookApi: 1,
  options: listSchema(z.array(codeSchema)),
  apply(hooks, host) {
    const { tools, agent, standalone } = host.options
    const allowed = new Set(tools)
    guard(hooks, 'allow-tools', { agent, standalone }, (tool) => {
      if (!allowed.has(tool))
        throw new Veto('TOOL_NOT_ALLOWED', `The tool ${JSON.stringify(tool)} is not on the list of allowed ones.`, {
          tool,
        })
    })
  },
})

/**
 * Stops the named tools and lets all others run; hosted ones too, as {@link allowTools} does.
 *
 * @example
 * denyTools(['web_search'])
 */
export const denyTools = definePlugin({
  name: 'hooks-policy/deny-tools',
  hookApi: 1,
  options: listSchema(z.array(codeSchema).min(1)),
  apply(hooks, host) {
    const { tools, agent, standalone } = host.options
    const denied = new Set(tools)
    guard(hooks, 'deny-tools', { agent, standalone }, (tool) => {
      if (denied.has(tool)) throw new Veto('TOOL_DENIED', `The tool ${JSON.stringify(tool)} is denied.`, { tool })
    })
  },
})

function guard(
  hooks: Hooks,
  name: string,
  narrowing: { readonly agent: string | readonly string[] | undefined; readonly standalone: 'include' | 'exclude' },
  check: (tool: string) => void,
): void {
  const { agent, standalone } = narrowing
  const guarded = appliesTo({ standalone, ...(agent === undefined ? {} : { agent }) })
  hooks.beforeToolCall.tap({ name, stage: Stage.policy }, (context) => {
    if (guarded(context)) check(context.toolCode)
  })
  hooks.beforeModelCall.tap({ name, stage: Stage.policy }, ({ agentCode, hostedTools }) => {
    if (!guarded({ agentCode })) return
    for (const { code } of hostedTools) check(code)
  })
}
