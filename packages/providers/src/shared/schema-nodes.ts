import type { Wire } from './wire-json.js'
import { isWire, wireList } from './wire-json.js'

/** A record whose keys are a closed list is an object with these keys. */
export function withNamedKeys(node: Wire): Wire {
  const { propertyNames, additionalProperties, ...rest } = node
  const names = isWire(propertyNames) ? propertyNames.enum : undefined
  if (!Array.isArray(names) || !isWire(additionalProperties) || node.properties !== undefined) return node
  const properties = Object.fromEntries(names.map((name) => [String(name), additionalProperties]))
  return { ...rest, properties, additionalProperties: false }
}

/** True where the author's schema lets the value be `null` by itself. */
export function acceptsNull(node: Wire): boolean {
  if (node.type === 'null' || node.const === null) return true
  if (Array.isArray(node.type) && node.type.includes('null')) return true
  if (Array.isArray(node.enum) && node.enum.includes(null)) return true
  return [...wireList(node.anyOf), ...wireList(node.oneOf)].some((variant) => isWire(variant) && acceptsNull(variant))
}

/** The schema, which `null` fits too. */
export function nullable(schema: Wire): Wire {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  const simple = typeof schema.type === 'string' && schema.type !== 'object' && schema.type !== 'array'
  if (!simple) {
    const { description, ...rest } = schema
    return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] }
  }
  const { const: only, ...rest } = schema
  const values = Object.hasOwn(schema, 'const') ? [only] : schema.enum
  return {
    ...rest,
    type: [schema.type, 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  }
}

/** The type of these values, where they have one that a schema can name. */
export function typesOf(values: readonly unknown[]): string | string[] | undefined {
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)))
  if ([...types].some((type) => !['string', 'number', 'boolean', 'null'].includes(type))) return undefined
  return types.size === 1 ? ([...types][0] as string) : [...types]
}

/** A literal for a protocol that lists strings and numbers only; others are said in words, and enforced by us. */
export function listed(literal: Wire): Wire {
  const { const: only, ...rest } = literal
  const values = Array.isArray(rest.enum) ? (rest.enum as unknown[]) : [only]
  if (values.every((value) => typeof value === 'string' || typeof value === 'number')) return { ...rest, enum: values }
  const { enum: _enum, description, ...about } = rest
  const words = `(one of: ${values.map((value) => JSON.stringify(value)).join(', ')})`
  return { ...about, description: typeof description === 'string' ? `${description} ${words}` : words }
}
