import type { JsonObject, JsonValue } from '../internal/json.js'
import { isPlainObject, ownValue } from '../internal/json.js'

const MAX_PARTS = 200
const MAX_STEPS = 64

/**
 * The schemas that speak about one value: the schema itself and everything it joins through `$ref`, `allOf`, `anyOf` and
 * `oneOf`. A branch is left out where its type or a `const` of its properties (a discriminator) rules the value out.
 */
export function schemaParts(root: JsonObject, schema: unknown, value?: unknown): JsonObject[] {
  const parts: JsonObject[] = []
  collect(root, schema, value, parts, 0)
  return parts
}

function collect(root: JsonObject, schema: unknown, value: unknown, parts: JsonObject[], step: number): void {
  if (!isPlainObject(schema) || parts.length >= MAX_PARTS || step > MAX_STEPS) return
  const part = schema as JsonObject
  if (parts.includes(part)) return
  parts.push(part)
  const reference = ownValue(part, '$ref')
  if (typeof reference === 'string') collect(root, resolveReference(root, reference), value, parts, step + 1)
  for (const branch of branches(part, 'allOf')) collect(root, branch, value, parts, step + 1)
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    for (const branch of branches(part, keyword)) {
      if (mayDescribe(root, branch, value)) collect(root, branch, value, parts, step + 1)
    }
  }
}

/** The branches of `allOf`, `anyOf` or `oneOf`; none where the keyword is absent. */
export function branches(schema: JsonObject, keyword: 'allOf' | 'anyOf' | 'oneOf'): readonly JsonValue[] {
  const found = ownValue(schema, keyword)
  return Array.isArray(found) ? (found as readonly JsonValue[]) : []
}

/** What a local reference (`#`, `#/definitions/x`) points at; `undefined` for any other, or where nothing is there. */
export function resolveReference(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const segment of reference.slice(2).split('/')) {
    if (found === null || typeof found !== 'object') return undefined
    found = ownValue(found, decodePointer(segment))
  }
  return found
}

function decodePointer(segment: string): string {
  let text = segment
  try {
    text = decodeURIComponent(segment)
  } catch {
    // a lone percent sign stands for itself
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

function mayDescribe(root: JsonObject, branch: unknown, value: unknown): boolean {
  if (value === undefined || !isPlainObject(branch)) return true
  const target = typeof branch.$ref === 'string' ? resolveReference(root, branch.$ref) : branch
  if (!isPlainObject(target)) return true
  if (!isPlainObject(value)) return true
  if (target.type !== undefined && target.type !== 'object') return false
  const properties = ownValue(target, 'properties')
  if (!isPlainObject(properties)) return true
  for (const key of Object.keys(properties)) {
    const property = properties[key]
    if (!isPlainObject(property) || !Object.hasOwn(property, 'const')) continue
    if (Object.hasOwn(value, key) && value[key] !== property.const) return false
  }
  return true
}
