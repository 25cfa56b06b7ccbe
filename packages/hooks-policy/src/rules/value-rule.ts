import type { InspectToolInputContext, JsonObject, PluginInstance } from '@sluice/core'
import { appliesTo, definePlugin, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { codesSchema, narrowingFields } from './narrowing.js'
import type { Narrowing } from './narrowing.js'

/**
 * Judges the validated arguments of a call. Returns `undefined` where they are fine, else the reason why not; it may also throw
 * an answer of `inspectToolInput` itself (a `Refusal`, which the model reads). Anything else that it returns or throws stops
 * the run as a failure.
 */
export type ValueCheck = (
  args: JsonObject,
  call: InspectToolInputContext,
) => string | undefined | Promise<string | undefined>

/** Options of {@link valueRule} beside tool and check. */
export interface ValueRuleOptions extends Narrowing {
  /** Tells several rules of one runtime apart. @default the code of the tool */
  readonly id?: string
}

const plugin = definePlugin({
  name: 'hooks-policy/value-rule',
  hookApi: 1,
  options: z.strictObject({
    tool: codesSchema,
    check: z.custom<ValueCheck>((value) => typeof value === 'function', 'must be a function'),
    ...narrowingFields,
  }),
  apply(hooks, host) {
    const { tool, check, agent, standalone } = host.options
    const guarded = appliesTo({ tool, standalone, ...(agent === undefined ? {} : { agent }) })
    hooks.inspectToolInput.tapPromise({ name: 'value-rule', stage: Stage.policy }, async (context) => {
      if (!guarded(context)) return
      const reason: unknown = await check(context.args, context)
      if (reason === undefined) return
      if (typeof reason !== 'string')
        throw new TypeError(
          `The check of a value rule for ${context.toolCode} returned a ${reason === null ? 'null' : typeof reason}: ` +
            'return undefined where the arguments are fine, else the reason as text.',
        )
      throw new Veto('VALUE_RULE', reason === '' ? 'The arguments break a rule.' : reason, { tool: context.toolCode })
    })
  },
})

/**
 * A rule about the arguments of a tool, which run gates before the tool does: limits of an amount, an address that has to be
 * known. It sees a frozen copy of what the handler will get.
 *
 * @example
 * valueRule('pay_invoice', ({ amount }) => (Number(amount) > 10_000 ? 'More than 10 000 is paid by hand.' : undefined))
 */
export function valueRule(
  tool: string | readonly string[],
  check: ValueCheck,
  options: ValueRuleOptions = {},
): PluginInstance<undefined> {
  const { id, ...narrowing } = options
  const own = id ?? (typeof tool === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(tool) ? tool : undefined)
  return plugin({ ...narrowing, tool, check } as never, own === undefined ? {} : { id: own })
}
