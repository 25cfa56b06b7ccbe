import { SluiceError } from '../../errors/sluice-error.js'
import type { JsonObject, JsonValue } from '../../internal/json.js'
import { isPlainObject } from '../../internal/json.js'
import { isWellFormed } from './well-formed.js'

const MAX_DEPTH = 100

/**
 * A frozen copy of JSON data: what a caller does to its own object afterwards changes nothing in the store. An absent key
 * and one that is `undefined` are the same; `-0` becomes `0`; a key `__proto__` stays an own key (CASE-22).
 *
 * @throws STORE_VALUE_INVALID for anything that is not JSON data, with the place
 */
export function snapshotJson(value: unknown, what: string): JsonValue {
  try {
    return copy(value, 0)
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    throw new SluiceError('STORE_VALUE_INVALID', `${what} is not JSON data at '$${error.place}': ${error.message}.`, {
      hint: 'Store plain objects, lists, finite numbers, booleans, null and well-formed strings.',
    })
  }
}

/** As {@link snapshotJson}, for an object. */
export function snapshotObject<Value extends object>(value: Value, what: string): Value {
  return snapshotJson(value, what) as unknown as JsonObject as unknown as Value
}

class NotJson extends Error {
  place = ''

  at(step: string): this {
    this.place = `${step}${this.place}`.slice(0, 200)
    return this
  }
}

function copy(value: unknown, depth: number): JsonValue {
  switch (typeof value) {
    case 'string':
      if (!isWellFormed(value)) throw new NotJson('a string with an unpaired surrogate')
      return value
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(String(value))
      return value === 0 ? 0 : value
    case 'object':
      if (value === null) return null
      if (depth >= MAX_DEPTH) throw new NotJson(`nested deeper than ${MAX_DEPTH} levels`)
      if (Array.isArray(value)) return copyList(value, depth)
      if (isPlainObject(value)) return copyObject(value, depth)
      throw new NotJson('an object with a class of its own')
    default:
      throw new NotJson(value === undefined ? 'undefined' : `a value of type ${typeof value}`)
  }
}

function copyList(list: readonly unknown[], depth: number): JsonValue {
  const result: JsonValue[] = new Array(list.length)
  for (let index = 0; index < list.length; index++) {
    try {
      if (!Object.hasOwn(list, index)) throw new NotJson('a hole')
      result[index] = copy(list[index], depth + 1)
    } catch (error) {
      throw error instanceof NotJson ? error.at(`[${index}]`) : error
    }
  }
  return Object.freeze(result)
}

function copyObject(object: Record<string, unknown>, depth: number): JsonValue {
  const result: Record<string, JsonValue> = {}
  for (const key of Reflect.ownKeys(object)) {
    if (typeof key === 'symbol') throw new NotJson('a symbol as key')
    try {
      const descriptor = Object.getOwnPropertyDescriptor(object, key) as PropertyDescriptor
      if (descriptor.enumerable !== true) continue
      if (!('value' in descriptor)) throw new NotJson('an accessor')
      if (descriptor.value === undefined) continue
      if (!isWellFormed(key)) throw new NotJson('a key with an unpaired surrogate')
      const item = copy(descriptor.value, depth + 1)
      if (key === '__proto__') {
        Object.defineProperty(result, key, { value: item, enumerable: true, configurable: true, writable: true })
      } else {
        result[key] = item
      }
    } catch (error) {
      throw error instanceof NotJson ? error.at(`.${isWellFormed(key) ? key : '(key)'}`) : error
    }
  }
  return Object.freeze(result)
}
