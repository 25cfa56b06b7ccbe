import { isPlainObject } from './json.js'

/**
 * A deep-frozen copy of JSON data, made in one walk: what `JSON.parse(JSON.stringify(value))` gives. Keys whose value is
 * `undefined`, a function or a symbol are dropped, a number that is not finite becomes `null`, `-0` becomes `0`; an object
 * of another class goes through its JSON text. Throws where JSON would.
 */
export function frozenJson<Value>(value: Value): Value {
  return frozen(value) as Value
}

function frozen(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value + 0 : null
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return frozenArray(value)
      return isPlainObject(value) ? frozenObject(value) : throughText(value)
    case 'bigint':
      return throughText(value)
    default:
      return undefined
  }
}

function frozenArray(items: readonly unknown[]): readonly unknown[] {
  const copy: unknown[] = []
  for (let index = 0; index < items.length; index++) copy.push(frozen(items[index]) ?? null)
  return Object.freeze(copy)
}

/** A copy of the whole object first: most of what events carry is flat, and copied at once. */
function frozenObject(value: Record<string, unknown>): object {
  const copy = { ...value }
  for (const key in copy) {
    const item = copy[key]
    if (typeof item === 'string' || item === null) continue
    const next = frozen(item)
    if (next === undefined) delete copy[key]
    else if (next !== item) copy[key] = next
  }
  return Object.freeze(copy)
}

function throughText(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? undefined : frozen(JSON.parse(text))
}
