import type { ModelRequest, Protocol } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { Wire } from './wire-json.js'
import { isWire } from './wire-json.js'

/** A member of the body that only the runtime sets. */
export interface OwnedMember {
  /** What to use instead. */
  readonly instead: string
  /** The one value that may stand there, because it says what holds anyway. */
  readonly allowed?: unknown
}

/** Which members of a body a raw provider option may not touch. */
export interface RawOptionRules {
  readonly protocol: Protocol
  /** Members that carry what the runtime answers for; `options.limit` is the member `limit` of the member `options`. */
  readonly owned: Readonly<Record<string, OwnedMember>>
  /** Members through which a tool would run at the provider. */
  readonly hosted: ReadonlySet<string>
}

/**
 * Merges the raw provider options into the body, last. An object is merged into an object that stands there (`text`,
 * `output_config`, `reasoning`), a list of `include` is joined, `null` takes a member away, anything else replaces it.
 * @throws HOSTED_TOOL_UNDECLARED for tools, INVALID_CONFIG for what the runtime answers for (history, output cap, state at the provider)
 */
export function mergeRawOptions(body: Wire, request: ModelRequest, rules: RawOptionRules): Wire {
  const options = request.providerOptions
  if (options === undefined) return body
  for (const [key, value] of Object.entries(options)) {
    checkRawOption(key, value, rules)
    if (isWire(value)) for (const [inner, each] of Object.entries(value)) checkRawOption(`${key}.${inner}`, each, rules)
    if (value === null) delete body[key]
    else body[key] = merged(key, body[key], value)
  }
  return body
}

function checkRawOption(key: string, value: unknown, rules: RawOptionRules): void {
  const named = key.toLowerCase()
  if ([...rules.hosted].some((name) => name.toLowerCase() === named)) {
    throw new SluiceError(
      'HOSTED_TOOL_UNDECLARED',
      `The raw option "${key}" of ${rules.protocol} would add tools that no gate has seen.`,
      {
        hint: 'Declare a tool that runs at the provider with hostedTool(), and others with defineTool().',
        details: { protocol: rules.protocol, option: key },
      },
    )
  }
  const owned = Object.entries(rules.owned).find(([name]) => isOwned(name.toLowerCase(), named, value))?.[1]
  if (owned === undefined || ('allowed' in owned && owned.allowed === value)) return
  throw new SluiceError('INVALID_CONFIG', `The raw option "${key}" of ${rules.protocol} cannot be set.`, {
    hint: owned.instead,
    reason: 'provider_options.owned',
    details: { protocol: rules.protocol, option: key },
  })
}

/**
 * Servers that are written in Go read a name in whatever case it stands, so the case is no way around. A member that holds
 * an owned one may be merged into, but neither replaced nor taken away.
 */
function isOwned(owned: string, named: string, value: unknown): boolean {
  return owned === named || (!isWire(value) && owned.startsWith(`${named}.`))
}

function merged(key: string, present: unknown, value: unknown): unknown {
  if (isWire(present) && isWire(value)) return { ...present, ...value }
  if (key === 'include' && Array.isArray(present) && Array.isArray(value)) return [...new Set([...present, ...value])]
  return value
}
