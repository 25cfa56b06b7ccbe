import { Faults } from '../errors/faults.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject } from '../internal/json.js'
import { isPlainJson, isPlainObject, ownValue } from '../internal/json.js'
import { compileTemplate } from './compile-template.js'
import { readModelConfig } from './model-config.js'

/** A prompt profile as it is written and stored, with the keys of the original (P-1). */
export interface PromptProfileDefinition {
  /** Letters, digits, `_`, `-` and `.`, 1 to 128 characters. */
  readonly code: string
  /** A whole number of at least 1. Only read when the profile is created; default 1. */
  readonly version?: number
  readonly description?: string | null
  /** Absent or null: no system message. */
  readonly system_prompt_template?: string | null
  readonly user_prompt_template: string
  /** Id of the provider: the part of a model reference before the slash. */
  readonly provider: string
  readonly model: string
  readonly model_config?: JsonObject | null
  /** JSON Schema of the answer. */
  readonly response_schema?: JsonObject | null
  /** JSON Schema of the parameters (P-26). */
  readonly parameters_schema?: JsonObject | null
}

/** A profile in which every key is there; what was left out is `null`. Frozen. */
export type PromptProfile = Readonly<Required<Omit<PromptProfileDefinition, 'version'>>>

/** What {@link parsePromptProfile} gives. */
export interface ParsedPromptProfile {
  readonly profile: PromptProfile
  /** `null` where none was given. */
  readonly version: number | null
  /** Names of all placeholders of both templates. */
  readonly placeholders: readonly string[]
  /** What has no effect or may be a mistake, for whoever stores the profile (P-22, CASE-30). */
  readonly warnings: readonly string[]
}

const CODE = /^[A-Za-z0-9_.-]{1,128}$/
const KEYS: readonly string[] = [
  ...['code', 'version', 'description', 'system_prompt_template', 'user_prompt_template', 'provider', 'model'],
  ...['model_config', 'response_schema', 'parameters_schema'],
]

/**
 * Checks a prompt profile. Nothing is asked of a provider (P-9). Unknown keys, also in the model configuration, are
 * warnings, and faults with `strict`.
 *
 * @throws INVALID_CONFIG (`reason` `prompt.definition`) with all faults at once
 */
export function parsePromptProfile(json: unknown, options: { readonly strict?: boolean } = {}): ParsedPromptProfile {
  const faults = new Faults()
  const parsed = readPromptProfile(json, options.strict ?? false, faults)
  throwProfileFaults(faults, json)
  return parsed as ParsedPromptProfile
}

/** Throws where faults of a profile were noted. */
export function throwProfileFaults(faults: Faults, json: unknown): void {
  const code = isPlainObject(json) ? ownValue(json, 'code') : undefined
  const name = typeof code === 'string' ? ` '${escapeControl(code, 80)}'` : ''
  faults.throwIfAny(`The prompt profile${name} is not acceptable`, { reason: 'prompt.definition' })
}

/** {@link parsePromptProfile} that gathers its faults; `undefined` where it can say nothing more. */
export function readPromptProfile(json: unknown, strict: boolean, faults: Faults): ParsedPromptProfile | undefined {
  if (!isPlainObject(json)) {
    faults.add('profile', 'must be an object')
    return undefined
  }
  const warnings: string[] = []
  for (const key of Object.keys(json)) {
    if (!KEYS.includes(key)) warnings.push(`${escapeControl(key, 60)} is not known and has no effect${nearKey(key)}`)
  }
  const reader = new ProfileReader(json, faults)
  const profile: PromptProfile = {
    code: reader.code(),
    description: reader.optionalText('description'),
    system_prompt_template: reader.optionalText('system_prompt_template'),
    user_prompt_template: reader.text('user_prompt_template'),
    provider: reader.text('provider'),
    model: reader.text('model'),
    model_config: reader.object('model_config'),
    response_schema: reader.object('response_schema'),
    parameters_schema: reader.object('parameters_schema'),
  }
  if (profile.model_config !== null)
    warnings.push(...readModelConfig(profile.model_config, profile.provider, faults).warnings)
  const placeholders = placeholdersOfProfile(profile)
  if (strict) for (const warning of warnings.splice(0)) faults.add('strict', warning)
  warnings.push(...undeclaredPlaceholders(placeholders, profile.parameters_schema))
  return { profile: deepFreeze(structuredClone(profile)), version: reader.version(), placeholders, warnings }
}

function placeholdersOfProfile(profile: PromptProfile): readonly string[] {
  const names = new Map<string, string>()
  for (const template of [profile.system_prompt_template, profile.user_prompt_template]) {
    for (const name of template === null ? [] : compileTemplate(template).placeholders) {
      if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
    }
  }
  return [...names.values()]
}

/** The run context may bring what the schema does not declare, so this is no fault. */
function undeclaredPlaceholders(placeholders: readonly string[], schema: JsonObject | null): string[] {
  const properties = schema === null ? undefined : ownValue(schema, 'properties')
  if (!isPlainObject(properties)) return []
  const declared = new Set(Object.keys(properties).map((name) => name.toLowerCase()))
  return placeholders
    .filter((name) => !declared.has(name.toLowerCase()))
    .map((name) => `placeholder {${name}} is no property of parameters_schema: it needs a key of the run context`)
}

function nearKey(key: string): string {
  const plain = key.replaceAll('_', '').toLowerCase()
  const near = KEYS.find((known) => known.replaceAll('_', '') === plain)
  return near === undefined ? '' : `; did you mean ${near}?`
}

class ProfileReader {
  readonly #json: Record<string, unknown>
  readonly #faults: Faults

  constructor(json: Record<string, unknown>, faults: Faults) {
    this.#json = json
    this.#faults = faults
  }

  code(): string {
    const code = ownValue(this.#json, 'code')
    if (typeof code === 'string' && CODE.test(code)) return code
    this.#faults.add('code', 'must be 1 to 128 letters, digits, underscores, hyphens and dots')
    return ''
  }

  text(key: string): string {
    const value = ownValue(this.#json, key)
    if (typeof value === 'string' && value.trim() !== '') return value
    this.#faults.add(key, 'must be a text that is not empty')
    return ''
  }

  optionalText(key: string): string | null {
    const value = ownValue(this.#json, key) ?? null
    if (value === null || typeof value === 'string') return value
    this.#faults.add(key, 'must be a text or null')
    return null
  }

  object(key: string): JsonObject | null {
    const value = ownValue(this.#json, key) ?? null
    if (value === null) return null
    if (isPlainObject(value) && isPlainJson(value)) return value as JsonObject
    this.#faults.add(key, 'must be a JSON object or null')
    return null
  }

  version(): number | null {
    const version = ownValue(this.#json, 'version') ?? null
    if (version === null || (Number.isSafeInteger(version) && (version as number) >= 1)) return version as number | null
    this.#faults.add('version', 'must be a whole number of at least 1')
    return null
  }
}
