import type { JsonObject } from '@sluice/core'
import type { SchemaDialect } from './schema-dialect.js'
import type { SchemaFault } from './schema-fault.js'
import { acceptsNull, listed, nullable, typesOf, withNamedKeys } from './schema-nodes.js'
import { isRecursive, resolveRef } from './schema-refs.js'
import { WRAPPED_KEY } from './unwrap-output.js'
import type { Wire } from './wire-json.js'
import { isWire, wireList } from './wire-json.js'

/** A schema in the strict form of a protocol. */
export interface StrictSchema {
  readonly schema: JsonObject
  /** True where the author's root is no object: the answer comes under the key `value` and is unwrapped again. */
  readonly wrapped: boolean
  /**
   * Paths of keys that the wire schema lets be `null` only because the author lets them be absent. A `null` there means
   * "absent": core takes it away, by the author's schema, before it validates arguments and answers.
   */
  readonly nullable: readonly string[]
  /** What cannot be expressed; where there is anything in it, `schema` must not be sent. */
  readonly faults: readonly SchemaFault[]
}

const ROOT = '(root)'
const COMBINED = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'] as const
const REFUSED = [
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'contains',
  '$dynamicRef',
]
/** Constraints that say something of a value; what a dialect does not carry goes into the description. */
const CONSTRAINTS = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'default',
]

/** Converts a JSON Schema (draft 7 or 2020-12) to the strict form of a dialect. Never throws: see `faults`. */
export function toStrictSchema(schema: JsonObject, dialect: SchemaDialect): StrictSchema {
  return new Conversion(schema, dialect).run()
}

/** True where the schema itself says that its value is an object. */
export function hasObjectRoot(schema: JsonObject): boolean {
  if (COMBINED.some((keyword) => Object.hasOwn(schema, keyword)) || Object.hasOwn(schema, '$ref')) return false
  return schema.type === 'object' || (schema.type === undefined && isWire(schema.properties))
}

class Conversion {
  readonly #root: Wire
  readonly #dialect: SchemaDialect
  readonly #wrapped: boolean
  readonly #faults: SchemaFault[] = []
  readonly #nullable: string[] = []
  #properties = 0
  #enumValues = 0

  constructor(root: JsonObject, dialect: SchemaDialect) {
    this.#root = root
    this.#dialect = dialect
    this.#wrapped = !hasObjectRoot(root)
  }

  run(): StrictSchema {
    const { protocol: _protocol, ...bounds } = this.#dialect
    const converted = this.#schema(this.#root, '', 0)
    const definitions = this.#definitions()
    const schema = this.#wrapped
      ? {
          type: 'object',
          properties: { [WRAPPED_KEY]: converted },
          required: [WRAPPED_KEY],
          additionalProperties: false,
        }
      : converted
    if (!bounds.recursion && isRecursive(this.#root)) this.#fault('', 'is recursive')
    if (this.#properties > bounds.mostProperties) this.#fault('', `has more than ${bounds.mostProperties} properties`)
    if (this.#enumValues > bounds.mostEnumValues) this.#fault('', `has more than ${bounds.mostEnumValues} enum values`)
    return {
      schema: (definitions === undefined ? schema : { ...schema, $defs: definitions }) as JsonObject,
      wrapped: this.#wrapped,
      nullable: this.#nullable,
      faults: this.#faults,
    }
  }

  #fault(path: string, problem: string): void {
    this.#faults.push({ path: path === '' ? ROOT : path, problem })
  }

  #definitions(): Wire | undefined {
    const all = [this.#root.definitions, this.#root.$defs].filter(isWire).flatMap((group) => Object.entries(group))
    if (all.length === 0) return undefined
    return Object.fromEntries(all.map(([name, schema]) => [name, this.#schema(schema, `#${name}`, 0)]))
  }

  #schema(node: unknown, path: string, depth: number): Wire {
    if (!isWire(node)) {
      this.#fault(path, 'is not described by an object')
      return {}
    }
    for (const keyword of REFUSED) if (Object.hasOwn(node, keyword)) this.#fault(path, `uses "${keyword}"`)
    if (typeof node.$ref === 'string') return this.#reference(node, node.$ref, path)
    const variants = node.anyOf ?? node.oneOf
    if (Array.isArray(variants)) return this.#union(node, variants, path, depth)
    if (Array.isArray(node.allOf)) return this.#intersection(node, node.allOf, path, depth)
    if (Array.isArray(node.enum) || Object.hasOwn(node, 'const')) {
      return this.#dialect.literals === 'enum' ? listed(this.#literal(node)) : this.#literal(node)
    }
    return this.#typed(node, path, depth)
  }

  #reference(node: Wire, ref: string, path: string): Wire {
    if (resolveRef(this.#root, ref) === undefined) this.#fault(path, `refers to "${ref}", which is not in the schema`)
    const target = { $ref: this.#movedRef(ref) }
    // a reference takes nothing beside it
    return typeof node.description === 'string' ? { description: node.description, anyOf: [target] } : target
  }

  /** Where what `ref` points at stands in the converted schema. */
  #movedRef(ref: string): string {
    const renamed = ref.replace(/^#\/definitions\//, '#/$defs/')
    if (!this.#wrapped || renamed.startsWith('#/$defs/')) return renamed
    return `#/properties/${WRAPPED_KEY}${renamed.slice(1)}`
  }

  #union(node: Wire, variants: readonly unknown[], path: string, depth: number): Wire {
    if (isWire(node.properties)) this.#fault(path, 'has properties beside a union')
    return { ...this.#about(node), anyOf: variants.map((variant) => this.#schema(variant, path, depth)) }
  }

  #intersection(node: Wire, all: readonly unknown[], path: string, depth: number): Wire {
    const only = all[0]
    if (all.length !== 1 || !isWire(only)) {
      this.#fault(path, 'is an intersection ("allOf")')
      return {}
    }
    const { allOf: _allOf, ...rest } = node
    return this.#schema({ ...only, ...rest }, path, depth)
  }

  #literal(node: Wire): Wire {
    const values = Array.isArray(node.enum) ? node.enum : [node.const]
    this.#enumValues += values.length
    const type = node.type ?? typesOf(values)
    const literal = Array.isArray(node.enum) ? { enum: node.enum } : { const: node.const }
    return { ...(type === undefined ? {} : { type }), ...this.#about(node), ...literal }
  }

  #typed(node: Wire, path: string, depth: number): Wire {
    const type = node.type ?? (isWire(node.properties) ? 'object' : node.items === undefined ? undefined : 'array')
    const types = Array.isArray(type) ? (type as unknown[]) : [type]
    if (type === undefined) this.#fault(path, 'says no type')
    return {
      type,
      ...this.#about(node),
      ...(types.includes('object') ? this.#object(node, path, depth + 1) : {}),
      ...(types.includes('array') ? this.#array(node, path, depth) : {}),
    }
  }

  #object(record: Wire, path: string, depth: number): Wire {
    const node = withNamedKeys(record)
    const extra = node.additionalProperties
    if (depth > this.#dialect.deepest) this.#fault(path, `is nested deeper than ${this.#dialect.deepest} objects`)
    const described = this.#dialect.records === true && isWire(extra) && Object.keys(extra).length > 0
    if (Object.hasOwn(node, 'patternProperties') || (extra !== undefined && extra !== false && !described)) {
      this.#fault(path, 'allows keys that are not named (a record or a loose object)')
    } else if (!isWire(node.properties) && extra !== false && !described) {
      this.#fault(path, 'is an object without named properties')
    }
    const required = new Set(wireList(node.required))
    const properties = Object.entries(isWire(node.properties) ? node.properties : {})
    this.#properties += properties.length
    const converted = properties.map(([key, schema]): [string, Wire] => {
      const at = path === '' ? key : `${path}.${key}`
      const property = this.#schema(schema, at, depth)
      return [
        key,
        required.has(key) || this.#dialect.optional === 'absent' ? property : this.#optional(schema, property, at),
      ]
    })
    return {
      properties: Object.fromEntries(converted),
      required: converted
        .map(([key]) => key)
        .filter((key) => this.#dialect.optional === 'nullable' || required.has(key)),
      additionalProperties: described ? this.#schema(extra, path === '' ? '{}' : `${path}{}`, depth) : false,
    }
  }

  /** A key that may be absent: required on the wire, and `null` where it is not there. */
  #optional(author: unknown, property: Wire, path: string): Wire {
    if (isWire(author) && acceptsNull(author)) return property
    this.#nullable.push(path)
    return nullable(property)
  }

  #array(node: Wire, path: string, depth: number): Wire {
    const tuple = Array.isArray(node.items) ? (node.items as unknown[]) : node.prefixItems
    if (Array.isArray(tuple)) return this.#tuple(node, tuple, path, depth)
    if (node.items === undefined) {
      this.#fault(path, 'is an array whose items are not described')
      return {}
    }
    return { items: this.#schema(node.items, `${path}[]`, depth) }
  }

  #tuple(node: Wire, tuple: readonly unknown[], path: string, depth: number): Wire {
    if (this.#dialect.tuples !== true) {
      this.#fault(path, 'is a tuple')
      return {}
    }
    const more = node.prefixItems === undefined ? node.additionalItems : node.items
    return {
      prefixItems: tuple.map((item, index) => this.#schema(item, `${path}[${index}]`, depth)),
      ...(isWire(more) && Object.keys(more).length > 0 ? { items: this.#schema(more, `${path}[]`, depth) } : {}),
      // a tuple without a further schema has as many items as it names
      ...(isWire(more) ? {} : { minItems: node.minItems ?? tuple.length, maxItems: tuple.length }),
    }
  }

  /** Title, description and the constraints that the wire carries; the others as words in the description. */
  #about(node: Wire): Wire {
    const about: Wire = {}
    const words: string[] = []
    for (const keyword of CONSTRAINTS) {
      if (!Object.hasOwn(node, keyword)) continue
      if (this.#carries(keyword, node[keyword])) about[keyword] = node[keyword]
      else words.push(`${keyword}: ${JSON.stringify(node[keyword])}`)
    }
    const description = typeof node.description === 'string' ? node.description : ''
    const text =
      words.length === 0 ? description : `${description === '' ? '' : `${description} `}(${words.join(', ')})`
    return {
      ...(typeof node.title === 'string' ? { title: node.title } : {}),
      ...(text === '' ? {} : { description: text }),
      ...about,
    }
  }

  #carries(keyword: string, value: unknown): boolean {
    if (!this.#dialect.constraints.has(keyword)) return false
    if (keyword === 'format') return this.#dialect.formats.has(String(value))
    return keyword !== 'minItems' || (typeof value === 'number' && value <= this.#dialect.mostMinItems)
  }
}
