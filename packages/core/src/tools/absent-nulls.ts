import type { JsonObject } from '../internal/json.js'
import { isPlainObject, ownValue } from '../internal/json.js'
import { branches, resolveReference, schemaParts } from './schema-parts.js'

const MAX_DEPTH = 256

/**
 * The value without the nulls that stand for "absent" (CASE-17): strict modes make every key required, so a model sends
 * `null` where the author wrote `optional`. A key is taken out where the schema declares it, nowhere requires it, and does
 * not accept null. Everything else stays; a value in which nothing changes comes back itself, and none is changed in place.
 */
export function withoutAbsentNulls(schema: JsonObject, value: unknown): unknown {
  return visit(schema, schemaParts(schema, schema, value), value, 0)
}

function visit(root: JsonObject, parts: readonly JsonObject[], value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || parts.length === 0 || depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return visitArray(root, parts, value, depth)
  return isPlainObject(value) ? visitObject(root, parts, value, depth) : value
}

function visitObject(
  root: JsonObject,
  parts: readonly JsonObject[],
  value: Record<string, unknown>,
  depth: number,
): unknown {
  let changed: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (item === null) {
      if (!standsForAbsent(root, parts, key)) continue
      changed ??= { ...value }
      delete changed[key]
    } else if (typeof item === 'object') {
      const below = parts.flatMap((part) => schemaParts(root, propertySchema(part, key), item))
      const next = visit(root, below, item, depth + 1)
      if (next === item) continue
      changed ??= { ...value }
      changed[key] = next
    }
  }
  return changed ?? value
}

function visitArray(root: JsonObject, parts: readonly JsonObject[], value: readonly unknown[], depth: number): unknown {
  let changed: unknown[] | undefined
  for (let index = 0; index < value.length; index++) {
    const item = value[index]
    if (item === null || typeof item !== 'object') continue
    const below = parts.flatMap((part) => schemaParts(root, itemSchema(part, index), item))
    const next = visit(root, below, item, depth + 1)
    if (next === item) continue
    changed ??= [...value]
    changed[index] = next
  }
  return changed ?? value
}

function standsForAbsent(root: JsonObject, parts: readonly JsonObject[], key: string): boolean {
  let declared = false
  for (const part of parts) {
    const required = ownValue(part, 'required')
    if (Array.isArray(required) && required.includes(key)) return false
    const property = declaredProperty(part, key)
    if (property === undefined) continue
    if (acceptsNull(root, property, 0)) return false
    declared = true
  }
  return declared
}

function acceptsNull(root: JsonObject, schema: unknown, step: number): boolean {
  if (schema === false) return false
  // where we cannot tell, the null stays
  if (!isPlainObject(schema) || step > 32) return true
  const part = schema as JsonObject
  const { type, const: constant, $ref: reference } = part
  const values = part.enum
  if (part.nullable === true) return true
  if (typeof type === 'string' && type !== 'null') return false
  if (Array.isArray(type) && !type.includes('null')) return false
  if (constant !== undefined && constant !== null) return false
  if (Array.isArray(values) && !values.includes(null)) return false
  if (typeof reference === 'string' && !acceptsNull(root, resolveReference(root, reference), step + 1)) return false
  if (branches(part, 'allOf').some((branch) => !acceptsNull(root, branch, step + 1))) return false
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const found = branches(part, keyword)
    if (found.length > 0 && !found.some((branch) => acceptsNull(root, branch, step + 1))) return false
  }
  return true
}

function declaredProperty(part: JsonObject, key: string): unknown {
  const properties = ownValue(part, 'properties')
  return isPlainObject(properties) ? ownValue(properties, key) : undefined
}

function propertySchema(part: JsonObject, key: string): unknown {
  return declaredProperty(part, key) ?? ownValue(part, 'additionalProperties')
}

function itemSchema(part: JsonObject, index: number): unknown {
  const items = ownValue(part, 'items')
  const tuple = Array.isArray(items) ? items : ownValue(part, 'prefixItems')
  if (Array.isArray(tuple) && index < tuple.length) return tuple[index]
  return Array.isArray(items) ? ownValue(part, 'additionalItems') : items
}
