import { appliesTo, definePlugin, effectCounter, SluiceError, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { codesSchema, listOf, narrowingFields } from './narrowing.js'

/**
 * Bounds how often a tool is asked for, in a unit that is said: `run` is the whole tree of runs, `call` one `generateText`,
 * `session` a conversation over all its turns. It counts attempts, each call once, also those that a later gate stops (B-4):
 * several tools of one rule are counted together. `max: 0` lets none through. Asked at stage `limit`, behind switches and
 * identity, so that what these stop is not counted.
 */
export const callsPerRun = definePlugin({
  name: 'hooks-policy/calls-per-run',
  hookApi: 1,
  options: z.strictObject({
    tool: codesSchema,
    max: z.number().int().min(0),
    unit: z.enum(['run', 'call', 'session']),
    ...narrowingFields,
  }),
  apply(hooks, host) {
    const { tool, max, unit, agent, standalone } = host.options
    const guarded = appliesTo({ tool, standalone, ...(agent === undefined ? {} : { agent }) })
    const counter = effectCounter(host, 'calls', unit)
    hooks.beforeToolCall.tapPromise({ name: 'calls-per-run', stage: Stage.limit }, async (context) => {
      if (!guarded(context)) return
      const calls = await counter.count(context).catch((error: unknown) => {
        if (!SluiceError.isInstance(error, 'SCOPE_UNRESOLVED')) throw error
        throw new Veto('SCOPE_UNRESOLVED', error.message, { unit })
      })
      if (calls <= max) return
      const tools = [...listOf(tool)]
      throw new Veto(
        'CALLS_EXCEEDED',
        `${tools.join(', ')} may be asked for ${max} times per ${unit}; this is call ${calls}.`,
        { tools, unit, max, calls },
      )
    })
  },
})
