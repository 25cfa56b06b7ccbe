import { Faults } from '../errors/faults.js'
import type { StandardSchemaV1 } from '../hooks/standard-schema.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject } from '../internal/json.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'

/**
 * What a schema may be given as: a zod 4 schema, any other Standard Schema that also gives JSON Schema
 * (`~standard.jsonSchema`), or a JSON Schema object (draft 2020-12; draft 7 where its `$schema` says so).
 */
export type SchemaSource = StandardSchemaV1 | JsonObject

/** What a valid value looks like after validation: defaults applied, transforms run. JSON Schema gives plain JSON data. */
export type SchemaOutput<Source> = Source extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Source> : JsonObject

/** The part of the Standard JSON Schema interface that is used here. */
interface JsonSchemaConverter {
  input(options: { readonly target: string; readonly libraryOptions?: Record<string, unknown> }): unknown
}

/** The result of a conversion: where `faults` is not empty, the schema is not fit to be sent. */
export interface ConvertedSchema {
  readonly jsonSchema: JsonObject
  /** Paths are JSON pointers into the schema; empty for the schema as a whole. */
  readonly faults: readonly { readonly path: string; readonly message: string }[]
}

/**
 * The JSON Schema of what a schema takes in, without `$schema`, frozen: draft 7 where it is made from zod, an own JSON
 * Schema as it is. Descriptions stay; what a protocol cannot carry stays too, since every value is validated again.
 *
 * @throws SCHEMA_UNSUPPORTED naming every path that JSON Schema cannot express (dates, bigints, maps, custom types)
 */
export function toJsonSchema(source: SchemaSource): JsonObject {
  const { jsonSchema, faults } = convertSchema(source)
  if (faults.length === 0) return jsonSchema
  const found = new Faults()
  for (const fault of faults) found.add(fault.path === '' ? 'schema' : fault.path, fault.message)
  found.throwIfAny('The schema cannot be expressed as JSON Schema', { code: 'SCHEMA_UNSUPPORTED' })
  return jsonSchema
}

/** {@link toJsonSchema} that reports its faults in place of throwing. */
export function convertSchema(source: unknown): ConvertedSchema {
  if (isStandardSchema(source)) return convertStandardSchema(source)
  if (isPlainObject(source) && isPlainJson(source)) return { jsonSchema: ownSchema(source), faults: [] }
  return unusable(
    'must be a zod 4 schema (those of zod 3 give no JSON Schema), another Standard Schema that gives JSON Schema, or a JSON Schema object',
  )
}

/** True for zod schemas and everything else that implements Standard Schema. */
export function isStandardSchema(source: unknown): source is StandardSchemaV1 {
  if (source === null || (typeof source !== 'object' && typeof source !== 'function')) return false
  const standard: unknown = (source as { '~standard'?: unknown })['~standard']
  return (
    standard !== null &&
    typeof standard === 'object' &&
    typeof (standard as { validate?: unknown }).validate === 'function'
  )
}

function convertStandardSchema(source: StandardSchemaV1): ConvertedSchema {
  const standard = source['~standard'] as StandardSchemaV1.Props & { readonly jsonSchema?: JsonSchemaConverter }
  if (standard.jsonSchema === undefined)
    return unusable(
      `this ${standard.vendor} schema gives no JSON Schema; take zod 4.2 or newer (not zod/mini), or write the JSON Schema`,
    )
  const faults: { path: string; message: string }[] = []
  // zod tells each place that it cannot express, in place of throwing at the first one; others ignore the option
  const unrepresentable = ({ path, message }: { path: readonly PropertyKey[]; message: string }) => {
    faults.push({ path: `/${path.map(String).join('/')}`, message })
    return 'any'
  }
  try {
    const converted = standard.jsonSchema.input({ target: 'draft-07', libraryOptions: { unrepresentable } })
    if (!isPlainObject(converted)) return unusable('its conversion to JSON Schema gave no object')
    return { jsonSchema: ownSchema(converted as JsonObject), faults }
  } catch (error) {
    return unusable(error instanceof Error ? error.message : 'its conversion to JSON Schema failed')
  }
}

/** A frozen copy without `$schema`: what its owner does to the original later changes nothing here. */
function ownSchema(schema: Readonly<Record<string, unknown>>): JsonObject {
  const { $schema: _, ...rest } = schema
  return deepFreeze(structuredClone(rest)) as JsonObject
}

function unusable(message: string): ConvertedSchema {
  return { jsonSchema: Object.freeze({}), faults: [{ path: '', message }] }
}
