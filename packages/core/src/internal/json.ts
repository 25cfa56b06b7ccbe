/** Any value that survives JSON unchanged. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue }

/** A value, or a promise of it: lets a hot path stay synchronous where nothing has to be waited for. */
export type MaybePromise<Value> = Value | PromiseLike<Value>

/** True for objects and functions with a callable `then`. A `then` accessor that throws counts as not thenable. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  try {
    return typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return false
  }
}

/** True where `value` is a plain object: made by a literal, `JSON.parse` or `Object.create(null)`. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Own property lookup that never reaches a prototype. */
export function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined
}

/**
 * True where the value is JSON data all the way down: finite numbers, plain objects and arrays without holes, no cycle,
 * no accessor, no `undefined` but as an absent key. `maxDepth` bounds the walk.
 */
export function isPlainJson(value: unknown, maxDepth = 100): value is JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || maxDepth <= 0) return false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (!Object.hasOwn(value, index) || !isPlainJson(value[index], maxDepth - 1)) return false
    }
    return true
  }
  if (!isPlainObject(value) || Object.getOwnPropertySymbols(value).length > 0) return false
  for (const key of Object.keys(value)) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key)
    if (descriptor === undefined || !('value' in descriptor) || !isPlainJson(descriptor.value, maxDepth - 1))
      return false
  }
  return true
}
