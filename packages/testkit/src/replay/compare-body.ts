import type { JsonValue } from '@sluice/core'

/** One place where a request differs from what an exchange asks for. */
export interface Difference {
  readonly path: string
  readonly expected: string
  readonly actual: string
}

const SHOWN = 200

/** Where `actual` lacks what `expected` asks for; empty where it fits. See `FixtureRequest.body` for the rules. */
export function compareBody(expected: JsonValue, actual: unknown, path = 'body'): readonly Difference[] {
  if (Array.isArray(expected)) return compareList(expected, actual, path)
  if (expected === null || typeof expected !== 'object') {
    return Object.is(expected, actual) ? [] : [differ(path, expected, actual)]
  }
  const operator = expected as { readonly $contains?: JsonValue; readonly $includes?: JsonValue }
  if (Array.isArray(operator.$contains)) return compareContained(operator.$contains, actual, path)
  if (typeof operator.$includes === 'string') {
    const fits = typeof actual === 'string' && actual.includes(operator.$includes)
    return fits ? [] : [differ(path, `... ${operator.$includes} ...`, actual)]
  }
  if (actual === null || typeof actual !== 'object' || Array.isArray(actual)) return [differ(path, expected, actual)]
  return Object.entries(expected).flatMap(([key, value]) => {
    const inner = Object.hasOwn(actual, key) ? (actual as Record<string, unknown>)[key] : undefined
    return compareBody(value as JsonValue, inner, `${path}.${key}`)
  })
}

function compareList(expected: readonly JsonValue[], actual: unknown, path: string): readonly Difference[] {
  if (!Array.isArray(actual)) return [differ(path, expected, actual)]
  const differences = expected.flatMap((item, index) => compareBody(item, actual[index], `${path}[${index}]`))
  if (actual.length <= expected.length) return differences
  return [...differences, { path: `${path}.length`, expected: String(expected.length), actual: String(actual.length) }]
}

function compareContained(items: readonly JsonValue[], actual: unknown, path: string): readonly Difference[] {
  if (!Array.isArray(actual)) return [differ(path, items, actual)]
  let from = 0
  for (const [index, item] of items.entries()) {
    const found = actual.findIndex((value, at) => at >= from && compareBody(item, value).length === 0)
    if (found === -1) return [differ(`${path} (item ${index + 1} of $contains)`, item, actual)]
    from = found + 1
  }
  return []
}

function differ(path: string, expected: unknown, actual: unknown): Difference {
  return { path, expected: show(expected), actual: show(actual) }
}

function show(value: unknown): string {
  const text = value === undefined ? '(absent)' : (JSON.stringify(value) ?? String(value))
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text
}
