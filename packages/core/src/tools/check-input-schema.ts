import { reachesPrototype } from '../context/text-rules.js'
import type { Faults } from '../errors/faults.js'
import type { JsonObject } from '../internal/json.js'
import { isPlainObject, ownValue } from '../internal/json.js'
import { branches, resolveReference, schemaParts } from './schema-parts.js'
import { CONTEXT_KEY } from './unsafe-keys.js'

/**
 * Checks that a schema can be that of a tool's arguments: they are one object, none of their names is `_ctx`, which is
 * reserved, and none, at any level, is a name that is taken out of what a model sends (CASE-22).
 */
export function checkInputSchema(schema: JsonObject, faults: Faults): void {
  if (!describesObject(schema, schema, 0))
    faults.add('input', 'must describe an object: arguments are always one JSON object')
  for (const part of schemaParts(schema, schema)) {
    const properties = ownValue(part, 'properties')
    if (isPlainObject(properties) && Object.hasOwn(properties, CONTEXT_KEY)) {
      faults.add(`input.${CONTEXT_KEY}`, 'is reserved: the run context reaches the handler as `tool.runContext`')
      break
    }
  }
  for (const name of declaredUnsafeNames(schema))
    faults.add(`input ${name}`, 'is not allowed as the name of a property')
}

function describesObject(root: JsonObject, schema: unknown, step: number): boolean {
  if (!isPlainObject(schema) || step > 16) return false
  const part = schema as JsonObject
  if (part.type !== undefined) return part.type === 'object'
  if (typeof part.$ref === 'string') return describesObject(root, resolveReference(root, part.$ref), step + 1)
  const below = (keyword: 'allOf' | 'anyOf' | 'oneOf') =>
    branches(part, keyword).map((branch) => describesObject(root, branch, step + 1))
  const all = below('allOf')
  if (all.length > 0) return all.includes(true)
  const alternatives = [...below('anyOf'), ...below('oneOf')]
  return alternatives.length > 0 && !alternatives.includes(false)
}

function declaredUnsafeNames(schema: JsonObject): Set<string> {
  const names = new Set<string>()
  const waiting: unknown[] = [schema]
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    if (item === null || typeof item !== 'object') continue
    for (const key of Object.keys(item)) {
      const value = ownValue(item, key)
      if (key === 'properties' && isPlainObject(value)) {
        for (const name of Object.keys(value)) if (reachesPrototype(name)) names.add(name)
      }
      if (value !== null && typeof value === 'object') waiting.push(value)
    }
  }
  return names
}
