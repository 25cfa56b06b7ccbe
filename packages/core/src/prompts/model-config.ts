import { Faults } from '../errors/faults.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { isPlainObject, ownValue } from '../internal/json.js'
import type { ReasoningSettings } from '../providers/model-provider.js'
import type { ConfigKind } from './model-config-keys.js'
import { fitsKind, ROOT_KEYS, SECTION_KEYS, sectionOf } from './model-config-keys.js'

/** What a model configuration says about one call, over the defaults (P-19). `null`: it says nothing. */
export interface ModelConfigSettings {
  readonly baseUrl: string | null
  /**
   * A named credential: the one at the root, else the one of the provider's section. Nothing here keeps credentials by name
   * (G-54), so that it has no effect, which is reported.
   */
  readonly credential: string | null
  /** Offer tools of the registry (G-5). */
  readonly enableTools: boolean
  /** Only tools that carry one of these; empty: all. */
  readonly toolTags: readonly string[]
  readonly maxToolCalls: number | null
  readonly maxOutputTokens: number | null
  /** `null` while reasoning is not switched on. */
  readonly reasoning: ReasoningSettings | null
  /** Answer schema of a configuration override (P-23). */
  readonly responseSchema: JsonObject | null
  /** Keys of the provider's section that have no neutral form, in their own spelling: reported, since no request carries them. */
  readonly providerSettings: Readonly<Record<string, string | number | boolean>>
}

/** The settings, and what in the configuration has no effect: for the log, and for whoever stores it (P-22). */
export interface AppliedModelConfig {
  readonly settings: ModelConfigSettings
  readonly warnings: readonly string[]
}

const LEVELS: readonly unknown[] = ['low', 'medium', 'high']
const CREDENTIAL_KEY = 'g_apex_web_credential'
const NEUTRAL: readonly string[] = [
  ...[CREDENTIAL_KEY, 'g_max_tokens', 'g_reasoning_budget_tokens', 'g_reasoning_budget'],
]

/**
 * Reads a model configuration for a provider (P-19 to P-21): nothing is changed anywhere, the settings are those of one
 * call. Keys of a wrong type, unknown keys and keys without effect are reported, not applied; sections of other providers
 * are passed over.
 *
 * @throws INVALID_CONFIG (`reason` `model_config.invalid`) for numbers that cannot be meant, such as a negative limit
 */
export function applyModelConfig(config: JsonObject | null | undefined, providerId: string): AppliedModelConfig {
  const faults = new Faults()
  const applied = readModelConfig(config ?? {}, providerId, faults)
  faults.throwIfAny('The model configuration is not acceptable', { reason: 'model_config.invalid' })
  return applied
}

/** {@link applyModelConfig} that gathers its faults. */
export function readModelConfig(config: JsonObject, providerId: string, faults: Faults): AppliedModelConfig {
  const warnings: string[] = []
  const root = readRoot(config, providerId, warnings)
  const section = readSection(config, providerId, warnings)
  const maxToolCalls = wholeNumber(root.g_max_tool_calls, 'g_max_tool_calls', 0, faults)
  const maxOutputTokens = wholeNumber(section.g_max_tokens, `${providerId}.g_max_tokens`, 1, faults)
  const providerSettings = restOf(section)
  warnings.push(...withoutEffect(root, section, providerSettings, providerId))
  const settings: ModelConfigSettings = {
    baseUrl: text(root.g_base_url),
    credential: text(root.g_apex_web_credential) ?? text(section.g_apex_web_credential),
    enableTools: root.g_enable_tools === true,
    toolTags: Object.freeze(toTags(root.g_tool_tags)),
    maxToolCalls,
    maxOutputTokens,
    reasoning: readReasoning(root, section, providerId, warnings),
    responseSchema: (root.response_schema as JsonObject | undefined) ?? null,
    providerSettings: Object.freeze(providerSettings),
  }
  return Object.freeze({ settings: Object.freeze(settings), warnings: Object.freeze(warnings) })
}

type Values = Record<string, JsonValue>

function readRoot(config: JsonObject, providerId: string, warnings: string[]): Values {
  const values = Object.create(null) as Values
  for (const key of Object.keys(config)) {
    const value = config[key] as JsonValue
    const kind = ownKind(ROOT_KEYS, key)
    if (kind !== undefined) take(values, value, { key, place: key, kind }, warnings)
    else if (key !== providerId && !Object.hasOwn(SECTION_KEYS, key)) warnings.push(unknownAtRoot(key, providerId))
  }
  return values
}

function readSection(config: JsonObject, providerId: string, warnings: string[]): Values {
  const values = Object.create(null) as Values
  const section = ownValue(config, providerId)
  if (section === undefined) return values
  if (!isPlainObject(section)) {
    warnings.push(`${escapeControl(providerId, 60)} is ignored: it must be an object`)
    return values
  }
  const known = Object.hasOwn(SECTION_KEYS, providerId) ? SECTION_KEYS[providerId] : undefined
  for (const key of Object.keys(section)) {
    const place = `${escapeControl(providerId, 60)}.${escapeControl(key, 60)}`
    const value = section[key] as JsonValue
    const kind = known === undefined ? strangersKind(value) : ownKind(known, key)
    if (kind === undefined) warnings.push(`${place} is not known and has no effect`)
    else take(values, value, { key, place, kind }, warnings)
  }
  return values
}

/** Of a provider that is not ours we know no keys: scalars are handed on. */
function strangersKind(value: JsonValue): ConfigKind | undefined {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'number' ? 'number' : undefined
}

function ownKind(kinds: Readonly<Record<string, ConfigKind>>, key: string): ConfigKind | undefined {
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

interface Entry {
  readonly key: string
  readonly place: string
  readonly kind: ConfigKind
}

function take(values: Values, value: JsonValue, { key, place, kind }: Entry, warnings: string[]): void {
  if (fitsKind(value, kind)) values[key] = value
  else if (value !== null) warnings.push(`${place} is ignored: it must be ${NAMES[kind]}`)
}

const NAMES: Readonly<Record<ConfigKind, string>> = {
  text: 'a text',
  boolean: 'true or false',
  number: 'a number',
  texts: 'a text or a list of texts',
  object: 'an object',
}

function unknownAtRoot(key: string, providerId: string): string {
  const section = sectionOf(key, providerId)
  const place = escapeControl(key, 60)
  return section === undefined
    ? `${place} is not known and has no effect`
    : `${place} has no effect at the root: write it in the section "${section}"`
}

function readReasoning(
  root: Values,
  section: Values,
  providerId: string,
  warnings: string[],
): ReasoningSettings | null {
  const generic = level(root.g_reasoning_level, 'g_reasoning_level', warnings)
  const effort = section.g_reasoning_effort
  // what was set for this provider wins over the generic level (G-49)
  const chosen = LEVELS.includes(effort) ? (effort as ReasoningSettings['level']) : generic
  const budget = section.g_reasoning_budget_tokens ?? section.g_reasoning_budget
  if (root.g_enable_reasoning !== true) {
    if (root.g_reasoning_level !== undefined || budget !== undefined || effort !== undefined)
      warnings.push(
        `reasoning of ${escapeControl(providerId, 60)} is configured but not switched on: g_enable_reasoning`,
      )
    return null
  }
  return Object.freeze({
    ...(effort === undefined || LEVELS.includes(effort) ? { level: chosen ?? 'low' } : {}),
    ...(typeof budget === 'number' ? { budgetTokens: budget } : {}),
  })
}

function level(value: JsonValue | undefined, place: string, warnings: string[]): ReasoningSettings['level'] {
  if (value === undefined || LEVELS.includes(value)) return value as ReasoningSettings['level']
  warnings.push(`${place} is ignored: it must be low, medium or high`)
  return undefined
}

function wholeNumber(value: JsonValue | undefined, place: string, least: number, faults: Faults): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  faults.add(place, `must be a whole number of at least ${least}`)
  return null
}

function toTags(value: JsonValue | undefined): string[] {
  const tags = typeof value === 'string' ? [value] : Array.isArray(value) ? (value as string[]) : []
  return tags.map((tag) => tag.trim()).filter((tag) => tag !== '')
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function restOf(section: Values): Record<string, string | number | boolean> {
  const rest = Object.entries(section).filter(
    ([key, value]) => !NEUTRAL.includes(key) && !(key === 'g_reasoning_effort' && LEVELS.includes(value)),
  )
  return Object.fromEntries(rest) as Record<string, string | number | boolean>
}

/** Keys that are known and that nothing here acts on. That a credential is one of them has to be told above all. */
function withoutEffect(root: Values, section: Values, rest: object, providerId: string): string[] {
  const provider = escapeControl(providerId, 60)
  const credentials = [
    ...(text(root[CREDENTIAL_KEY]) === null ? [] : [CREDENTIAL_KEY]),
    ...(text(section[CREDENTIAL_KEY]) === null ? [] : [`${provider}.${CREDENTIAL_KEY}`]),
  ]
  return [
    ...credentials.map(
      (place) =>
        `${place} has no effect: credentials are not kept by name, and the key of the adapter is used. Give an adapter with the key that is meant to createRuntime({ providers }), under an id of its own`,
    ),
    ...Object.keys(rest).map((key) => `${provider}.${escapeControl(key, 60)} has no effect here`),
  ]
}

/**
 * Joins a configuration with an override (P-18): key by key, the override wins, sections of providers key by key too, and
 * `null` in the override takes a key out. With `replace`, the override stands alone, as in the original.
 */
export function mergeModelConfig(
  base: JsonObject | null | undefined,
  override: JsonObject | null | undefined,
  mode: 'merge' | 'replace' = 'merge',
): JsonObject | null {
  if (override === null || override === undefined) return base ?? null
  if (mode === 'replace' || base === null || base === undefined) return override
  const merged = new Map<string, JsonValue>(Object.entries(base))
  for (const [key, value] of Object.entries(override)) {
    const current = merged.get(key)
    if (value === null) merged.delete(key)
    else if (!Object.hasOwn(ROOT_KEYS, key) && isPlainObject(current) && isPlainObject(value))
      merged.set(key, mergeModelConfig(current as JsonObject, value as JsonObject))
    else merged.set(key, value)
  }
  return Object.fromEntries(merged)
}
