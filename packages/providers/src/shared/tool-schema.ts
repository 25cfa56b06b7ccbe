import type { JsonObject } from '@sluice/core'
import type { SchemaFault } from './schema-fault.js'
import { hasObjectRoot } from './strict-schema.js'
import type { Wire } from './wire-json.js'
import { isWire } from './wire-json.js'

/** How the loose form of a protocol writes what the drafts of JSON Schema write differently. */
export interface LooseDialect {
  /** A tuple as `prefixItems` (2020-12), or as a list whose items may be any of the tuple's. */
  readonly tuples: 'prefixItems' | 'anyOf'
  /** True where an object must list its properties and an array its items. */
  readonly spelledOut: boolean
}

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** No protocol takes arguments that are not an object: a union or a list at the root is refused. */
export function toolRootFaults(schema: JsonObject): readonly SchemaFault[] {
  if (hasObjectRoot(schema)) return []
  return [{ path: '(root)', problem: 'is not an object (a union, a list or a value at the root)' }]
}

/** A tool's input schema where the strict form cannot express it: as it is, in the words of the protocol's draft. */
export function toLooseSchema(schema: JsonObject, dialect: LooseDialect): JsonObject {
  const { $schema: _draft, ...rest } = schema
  const loose = convert(rest, dialect)
  return (loose.properties === undefined ? { ...loose, properties: {} } : loose) as JsonObject
}

function convert(node: Wire, dialect: LooseDialect): Wire {
  const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
    if (MAPS.has(key) && isWire(value)) return [key, mapValues(value, (schema) => inside(schema, dialect))]
    // what stands in these is data, not schema
    if (key === 'enum' || key === 'const' || key === 'default' || key === 'examples') return [key, value]
    return [key, inside(value, dialect)]
  })
  return spelledOut(tuple(Object.fromEntries(entries), dialect), dialect)
}

function inside(value: unknown, dialect: LooseDialect): unknown {
  if (Array.isArray(value)) return value.map((item) => inside(item, dialect))
  return isWire(value) ? convert(value, dialect) : value
}

function tuple(node: Wire, dialect: LooseDialect): Wire {
  const items = Array.isArray(node.items) ? (node.items as unknown[]) : node.prefixItems
  if (!Array.isArray(items)) return node
  const { items: _items, additionalItems, prefixItems, ...rest } = node
  const more = prefixItems === undefined ? additionalItems : node.items
  if (dialect.tuples === 'prefixItems')
    return { ...rest, prefixItems: items, ...(more === undefined ? {} : { items: more }) }
  const any = isWire(more) ? [...(items as unknown[]), more] : (items as unknown[])
  return { ...rest, items: any.length === 0 ? {} : { anyOf: any } }
}

function spelledOut(node: Wire, dialect: LooseDialect): Wire {
  if (!dialect.spelledOut) return node
  if (node.type === 'array' && node.items === undefined) return { ...node, items: {} }
  if (node.type === 'object' && node.properties === undefined) return { ...node, properties: {} }
  return node
}

function mapValues(map: Wire, convertValue: (value: unknown) => unknown): Wire {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convertValue(value)]))
}
