import { Faults, named } from '../errors/faults.js'
import type { HostedToolInfo } from '../hooks/hook-contexts.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject } from '../internal/json.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import { checkCommonOptions, optionsRecord, sourceLabels } from './check-tool.js'
import type { ToolCost, ToolEffect } from './tool-definition.js'

const HOSTED: unique symbol = Symbol.for('sluice.hosted-tool') as never

/** What {@link hostedTool} takes. */
export interface HostedToolOptions {
  /** Letters, digits, `_` and `-`, 1 to 64 characters: the name in gates, receipts and labels. */
  readonly code: string
  /** Id of the provider at which it runs, the part of a model reference before the slash. */
  readonly provider: string
  /** Default `send`. */
  readonly effect?: ToolEffect
  /** Default true: what it brings is text from outside. */
  readonly untrusted?: boolean
  /** Most uses in one request; default: not bounded. */
  readonly maxUses?: number
  /** Cost of one use. Without it, the tool is refused under a money limit. */
  readonly cost?: ToolCost
  /** The provider's own entry for its list of tools, sent as it is: `{ type: 'web_search' }`. */
  readonly configuration: JsonObject
}

/** A tool that runs at the provider, declared so that gates see it and its results are labelled. Frozen. */
export interface HostedToolDefinition {
  readonly kind: 'hosted'
  readonly code: string
  readonly provider: string
  readonly effect: ToolEffect
  readonly untrusted: boolean
  readonly maxUses: number | null
  readonly cost: ToolCost | null
  readonly labels: readonly Label[]
  /** Fits `OfferedHostedTool` of the providers. */
  readonly offered: { readonly code: string; readonly configuration: JsonObject }
  /** What gates are told of it. */
  readonly info: HostedToolInfo
}

const KEYS: readonly string[] = ['code', 'provider', 'effect', 'untrusted', 'maxUses', 'cost', 'configuration']

/**
 * Declares a tool that runs at the provider (web search, code execution). Undeclared ones in raw provider options are
 * refused with `HOSTED_TOOL_UNDECLARED`.
 *
 * @throws INVALID_CONFIG (`reason` `tool.definition`) with all faults at once
 */
export function hostedTool(options: HostedToolOptions): HostedToolDefinition {
  const faults = new Faults()
  const given = optionsRecord(options, 'hostedTool')
  faults.addUnknown(given, KEYS)
  checkCommonOptions(given, faults)
  const { code, provider, maxUses, configuration } = options
  if (typeof provider !== 'string' || provider === '' || provider.includes('/'))
    faults.add('provider', 'must be the id of a provider')
  if (maxUses !== undefined && !(Number.isSafeInteger(maxUses) && maxUses > 0))
    faults.add('maxUses', 'must be a whole number above 0')
  if (!isPlainObject(configuration) || !isPlainJson(configuration))
    faults.add('configuration', 'must be a JSON object: the entry for the tool list of the provider')
  faults.throwIfAny(`${named('Hosted tool', code)} is not acceptable`, { reason: 'tool.definition' })
  const effect = options.effect ?? 'send'
  const untrusted = options.untrusted ?? true
  const cost = options.cost === undefined ? null : { usd: options.cost.usd }
  const hosted = {
    kind: 'hosted' as const,
    code,
    provider,
    effect,
    untrusted,
    maxUses: maxUses ?? null,
    cost,
    labels: sourceLabels('hosted', code, untrusted),
    offered: { code, configuration: structuredClone(configuration) },
    info: { code, effect, untrusted, maxUses: maxUses ?? null, cost },
    [HOSTED]: true,
  }
  return deepFreeze(hosted)
}

/** True for what {@link hostedTool} made, also in another copy of the package. */
export function isHostedTool(value: unknown): value is HostedToolDefinition {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, HOSTED)
}
