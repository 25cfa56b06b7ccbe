import { isPlainObject } from './json.js'

/**
 * Freezes plain objects and arrays all the way down, cycles included, without recursion, and returns the value. Functions
 * and objects with a class of their own (an AbortSignal, a typed array, a Date, an Error) are left as they are, and an
 * accessor is not called: a frozen AbortSignal would be dead.
 */
export function deepFreeze<Value>(value: Value): Value {
  if (!isContainer(value)) return value
  const waiting: object[] = [value]
  // only objects that were frozen when we met them can lead us in circles; fresh JSON data needs no set
  let seen: Set<object> | undefined
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    if (Object.isFrozen(item)) {
      if (seen?.has(item) === true) continue
      seen ??= new Set()
      seen.add(item)
    } else {
      Object.freeze(item)
    }
    pushContents(item, waiting)
  }
  return value
}

function pushContents(item: object, waiting: object[]): void {
  for (const key of Object.keys(item)) {
    const descriptor = Object.getOwnPropertyDescriptor(item, key)
    if (descriptor !== undefined && isContainer(descriptor.value)) waiting.push(descriptor.value)
  }
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === 'object' && (Array.isArray(value) || isPlainObject(value))
}
