import { Faults } from '../errors/faults.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { isPlainObject } from '../internal/json.js'
import { isPlainText, isWellFormed, reachesPrototype } from './text-rules.js'

/** Who starts a run: an anonymous visitor, a logged-in user, or a job or direct call (S-15). */
export type Audience = 'public' | 'authenticated' | 'db'

/**
 * Who starts a run, as the application says it. The model never sees or chooses any of it. All texts are 1 to 1 000
 * UTF-16 units without control characters; leave out (or give `null`) what is not known.
 */
export interface Caller {
  /** The application user. */
  readonly user?: string | null
  readonly tenant?: string | null
  /** @default 'db' */
  readonly audience?: Audience | null
  readonly appId?: string | null
  readonly pageId?: string | null
  readonly appSessionId?: string | null
  readonly ipAddress?: string | null
  /** Name of the client's machine. */
  readonly host?: string | null
  readonly module?: string | null
  readonly action?: string | null
  readonly clientIdentifier?: string | null
  /** Plain JSON data of the application, at most 16 384 UTF-16 units of text and 16 levels deep; kept with the run. */
  readonly metadata?: JsonObject | null
}

/** A caller as a run carries it: deep-frozen, every field there, `null` where nothing was given. */
export interface ResolvedCaller {
  readonly user: string | null
  readonly tenant: string | null
  readonly audience: Audience
  readonly appId: string | null
  readonly pageId: string | null
  readonly appSessionId: string | null
  readonly ipAddress: string | null
  readonly host: string | null
  readonly module: string | null
  readonly action: string | null
  readonly clientIdentifier: string | null
  readonly metadata: JsonObject | null
  /** `user`, else the service user of the runtime, else `null` (S-16): for records only, never a key of a rule. */
  readonly createdBy: string | null
}

const AUDIENCES: readonly unknown[] = ['public', 'authenticated', 'db']
const MAX_TEXT = 1000
const MAX_METADATA_TEXT = 16_384
const MAX_METADATA_DEPTH = 16

/**
 * Checks a caller and returns a frozen copy that later changes of the original do not reach.
 *
 * @throws INVALID_CONFIG (`reason` `caller.invalid`) for an unknown key or an unfit value, all faults at once
 */
export function normalizeCaller(caller: Caller | undefined, serviceUser: string | null = null): ResolvedCaller {
  const faults = new Faults()
  const next: { -readonly [Key in keyof ResolvedCaller]: ResolvedCaller[Key] } = {
    user: null,
    tenant: null,
    audience: 'db',
    appId: null,
    pageId: null,
    appSessionId: null,
    ipAddress: null,
    host: null,
    module: null,
    action: null,
    clientIdentifier: null,
    metadata: null,
    createdBy: null,
  }
  if (caller !== undefined && caller !== null) {
    if (isPlainObject(caller)) readFields(caller, next, faults)
    else faults.add('caller', 'must be a plain object')
    faults.throwIfAny('The caller is not acceptable', { reason: 'caller.invalid' })
  }
  next.createdBy = next.user ?? serviceUser
  return Object.freeze(next)
}

function readFields(caller: Record<string, unknown>, next: Record<string, unknown>, faults: Faults): void {
  for (const key of Object.keys(caller)) {
    if (key === 'createdBy' || !Object.hasOwn(next, key)) {
      faults.add(key, `is not known; known are ${Object.keys(next).slice(0, -1).join(', ')}`)
      continue
    }
    const value = caller[key]
    if (value === undefined || value === null) continue
    if (key === 'metadata') next.metadata = copyMetadata(value, faults)
    else if (key !== 'audience') readText(key, value, next, faults)
    else if (AUDIENCES.includes(value)) next.audience = value
    else faults.add('audience', "must be 'public', 'authenticated' or 'db'")
  }
}

function readText(key: string, value: unknown, next: Record<string, unknown>, faults: Faults): void {
  if (typeof value !== 'string') faults.add(key, `must be text, not ${kindOf(value)}`)
  else if (value === '') faults.add(key, 'must not be empty; leave it out where it is not known')
  else if (value.length > MAX_TEXT) faults.add(key, `has ${value.length} characters; at most ${MAX_TEXT} are allowed`)
  else if (!isPlainText(value)) faults.add(key, 'must not hold control characters or unpaired surrogates')
  else next[key] = value
}

/** Checks and copies in one walk, so that what was checked is what is kept. */
function copyMetadata(value: unknown, faults: Faults): JsonObject | null {
  if (!isPlainObject(value)) {
    faults.add('metadata', `must be a plain object, not ${kindOf(value)}`)
    return null
  }
  const found = faults.list.length
  const room = { text: MAX_METADATA_TEXT }
  const copy = copyJson(value, 'metadata', MAX_METADATA_DEPTH, room, faults) as JsonObject
  if (room.text < 0) faults.add('metadata', `holds more than ${MAX_METADATA_TEXT} characters of keys and text`)
  return faults.list.length === found ? copy : null
}

function copyJson(value: unknown, path: string, depth: number, room: { text: number }, faults: Faults): JsonValue {
  if (room.text < 0) return null
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    room.text -= 8
    if (Number.isFinite(value)) return value
  } else if (typeof value === 'string') {
    room.text -= value.length
    if (isWellFormed(value)) return value
  } else if (depth > 0 && Array.isArray(value)) {
    room.text -= value.length
    return Object.freeze(Array.from(value, (item, at) => copyJson(item, `${path}.${at}`, depth - 1, room, faults)))
  } else if (depth > 0 && isPlainObject(value)) {
    return copyObject(value, path, depth, room, faults)
  }
  faults.add(path, `must be plain JSON data of at most ${MAX_METADATA_DEPTH} levels, not ${kindOf(value)}`)
  return null
}

function copyObject(
  value: Record<string, unknown>,
  path: string,
  depth: number,
  room: { text: number },
  faults: Faults,
): JsonValue {
  const copy: Record<string, JsonValue> = {}
  for (const key of Object.keys(value)) {
    room.text -= key.length
    if (reachesPrototype(key) || !isWellFormed(key)) faults.add(`${path}.${key}`, 'is not allowed as a key')
    else if (value[key] !== undefined) copy[key] = copyJson(value[key], `${path}.${key}`, depth - 1, room, faults)
  }
  return Object.freeze(copy)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return 'text with an unpaired surrogate'
  return typeof value === 'object' ? 'an object of another kind or too deep' : `a ${typeof value}`
}
