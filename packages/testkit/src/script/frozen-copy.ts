/**
 * `value` itself where it is frozen all the way down, else a frozen copy of its plain data, so that what a test looks at
 * later is what was there at the time.
 */
export function frozenCopy<Value>(value: Value): Value {
  return isDeepFrozen(value) ? value : freeze(structuredClone(value))
}

function isDeepFrozen(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen)
}

function freeze<Value>(value: Value): Value {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) freeze(part)
  }
  return value
}
