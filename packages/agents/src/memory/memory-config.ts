import type { JsonObject } from '@sluice/core'
import { SluiceError } from '@sluice/core'

/** Whose files an agent sees (M-3). Each is a file system of its own for every tenant. */
export type MemoryScope = 'agent' | 'user' | 'session' | 'shared' | 'global' | 'context'

/** The memory of one agent. */
export interface MemoryOptions {
  /** Default `agent`: one store for the agent, whoever calls it. */
  readonly scope?: MemoryScope
  /** Name of the store of scope `shared`; of scope `context`, the namespace that several agents use together. */
  readonly storeCode?: string
  /** The key of the run context that scope `context` keeps one store per value of. */
  readonly contextKey?: string
  /** UTF-16 units that one file may hold. Default 100 000. */
  readonly maxFileChars?: number
  /** Files that one store may hold. Default 1 000. */
  readonly maxFiles?: number
  /** UTF-16 units that all files of a store may hold together. Default: no bound of its own. */
  readonly maxStoreChars?: number
}

/** The memory of an agent, checked, with its defaults. */
export interface MemoryConfig {
  readonly scope: MemoryScope
  readonly storeCode: string | null
  readonly contextKey: string | null
  readonly maxFileChars: number
  readonly maxFiles: number
  readonly maxStoreChars: number | null
}

const SCOPES: readonly unknown[] = ['agent', 'user', 'session', 'shared', 'global', 'context'] satisfies MemoryScope[]
const NAME = /^[A-Za-z0-9_.-]{1,200}$/
const KEYS = ['scope', 'storeCode', 'contextKey', 'maxFileChars', 'maxFiles', 'maxStoreChars'] as const
const MOST = { maxFileChars: 1_000_000, maxFiles: 10_000, maxStoreChars: 100_000_000 } as const

/**
 * Checks the memory of an agent.
 *
 * @throws MISSING_CONFIG for scope `context` without `contextKey` and scope `shared` without `storeCode` (M-4); INVALID_CONFIG
 * (`reason` `memory.options`) with all other faults at once
 */
export function checkMemoryOptions(given: MemoryOptions): MemoryConfig {
  const faults: string[] = []
  const plain = given !== null && typeof given === 'object' && !Array.isArray(given)
  if (!plain) faults.push('memory: must be one plain object')
  const options: MemoryOptions = plain ? given : {}
  for (const key of Object.keys(options))
    if (!(KEYS as readonly string[]).includes(key)) faults.push(`${key}: is not known; known are ${KEYS.join(', ')}`)
  const { scope = 'agent', storeCode = null, contextKey = null } = options
  if (!SCOPES.includes(scope)) faults.push(`scope: must be one of ${SCOPES.join(', ')}`)
  for (const [key, value] of Object.entries({ storeCode, contextKey }))
    if (value !== null && !(typeof value === 'string' && NAME.test(value)))
      faults.push(`${key}: must be 1 to 200 letters, digits, \`_\`, \`.\` and \`-\``)
  if (storeCode !== null && scope !== 'shared' && scope !== 'context')
    faults.push('storeCode: is for the scopes shared and context')
  if (contextKey !== null && scope !== 'context') faults.push('contextKey: is for the scope context')
  for (const key of Object.keys(MOST) as (keyof typeof MOST)[]) {
    const value = options[key]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= MOST[key]))
      faults.push(`${key}: must be a whole number from 1 to ${MOST[key]}`)
  }
  if (faults.length > 0)
    throw new SluiceError('INVALID_CONFIG', `The memory is not acceptable: ${faults.join('; ')}.`, {
      reason: 'memory.options',
    })
  if (scope === 'context' && contextKey === null) throw missing(scope, 'contextKey')
  if (scope === 'shared' && storeCode === null) throw missing(scope, 'storeCode')
  return Object.freeze({
    scope,
    storeCode,
    contextKey,
    maxFileChars: options.maxFileChars ?? 100_000,
    maxFiles: options.maxFiles ?? 1_000,
    maxStoreChars: options.maxStoreChars ?? null,
  })
}

function missing(scope: MemoryScope, key: string): SluiceError {
  return new SluiceError('MISSING_CONFIG', `A memory of scope ${scope} needs ${key}.`, { hint: `Give ${key}.` })
}

/** As it is stored, under the original's keys. */
export function toStoredConfig(config: MemoryConfig): JsonObject {
  return {
    scope: config.scope,
    store_code: config.storeCode,
    context_key: config.contextKey,
    max_file_chars: config.maxFileChars,
    max_files: config.maxFiles,
    max_store_chars: config.maxStoreChars,
  }
}

/** Reads what {@link toStoredConfig} wrote. @throws as {@link checkMemoryOptions} */
export function fromStoredConfig(stored: JsonObject): MemoryConfig {
  const options: Record<string, unknown> = {}
  const names: Readonly<Record<string, string>> = {
    scope: 'scope',
    store_code: 'storeCode',
    context_key: 'contextKey',
    max_file_chars: 'maxFileChars',
    max_files: 'maxFiles',
    max_store_chars: 'maxStoreChars',
  }
  for (const [key, name] of Object.entries(names))
    if (Object.hasOwn(stored, key) && stored[key] !== null) options[name] = stored[key]
  return checkMemoryOptions(options as MemoryOptions)
}
