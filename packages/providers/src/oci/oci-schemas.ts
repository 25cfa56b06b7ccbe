import type { JsonObject, OfferedTool, OutputFormat } from '@sluice/core'
import { OCI_COHERE, OCI_GENERIC } from '../behaviour/oci-behaviour.js'
import type { ProtocolBehaviour } from '../behaviour/protocol-behaviour.js'
import { oncePerObject } from '../shared/once-per-object.js'
import { strictDialect } from '../shared/schema-dialect.js'
import { schemaUnsupported } from '../shared/schema-fault.js'
import type { StrictSchema } from '../shared/strict-schema.js'
import { toStrictSchema } from '../shared/strict-schema.js'
import { toLooseSchema, toolRootFaults } from '../shared/tool-schema.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireText } from '../shared/wire-json.js'

const LOOSE = { tuples: 'prefixItems', spelledOut: true } as const
const OUTPUT_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** The schemas of one of OCI's protocols, each converted once for as long as its definition lives. */
export interface OciSchemas {
  tool(tool: OfferedTool): Wire
  /** @throws SCHEMA_UNSUPPORTED */
  output(format: OutputFormat): Wire
  wrapsOutput(schema: JsonObject): boolean
  /** @throws SCHEMA_UNSUPPORTED */
  check(schema: JsonObject, use: 'tool' | 'output'): void
}

/** Tools are functions with a JSON Schema of any kind; an answer is held to its schema in strict mode. */
export function createGenericSchemas(): OciSchemas {
  return createSchemas(
    OCI_GENERIC,
    ({ name, description, inputSchema }) => ({
      type: 'FUNCTION',
      name,
      ...(description === '' ? {} : { description }),
      parameters: toLooseSchema(inputSchema, LOOSE),
    }),
    ({ name }, schema) => ({
      type: 'JSON_SCHEMA',
      jsonSchema: { name: OUTPUT_NAME.test(name) ? name : 'structured_output', schema, isStrict: true },
    }),
  )
}

/** Tools are flat lists of parameters, each with a type and a text; an answer is held to its schema. */
export function createCohereSchemas(): OciSchemas {
  return createSchemas(
    OCI_COHERE,
    ({ name, description, inputSchema }) => ({
      name,
      // required, so that a tool without one is described by its name
      description: description === '' ? name : description,
      parameterDefinitions: parameterDefinitions(inputSchema),
    }),
    (_format, schema) => ({ type: 'JSON_OBJECT', schema }),
  )
}

function createSchemas(
  row: ProtocolBehaviour,
  tool: (tool: OfferedTool) => Wire,
  output: (format: OutputFormat, schema: JsonObject) => Wire,
): OciSchemas {
  const { protocol } = row
  const dialect = strictDialect(row)
  const strict = oncePerObject((schema: JsonObject): StrictSchema => toStrictSchema(schema, dialect))

  function usable(schema: JsonObject): JsonObject {
    const converted = strict(schema)
    if (converted.faults.length > 0) throw schemaUnsupported(protocol, 'output', converted.faults)
    return converted.schema
  }

  return {
    tool: oncePerObject(tool),
    output: (format) => output(format, usable(format.schema)),
    wrapsOutput: (schema) => strict(schema).wrapped,
    check(schema, use) {
      const faults = use === 'tool' ? toolRootFaults(schema) : strict(schema).faults
      if (faults.length > 0) throw schemaUnsupported(protocol, use, faults)
    },
  }
}

/** What a type and a text do not say of a parameter is said in the text, as JSON Schema; core validates the arguments. */
function parameterDefinitions(inputSchema: JsonObject): Wire {
  const { properties, $defs, definitions } = toLooseSchema(inputSchema, LOOSE)
  const required = new Set(wireList(inputSchema.required))
  const parts = Object.fromEntries(
    Object.entries({ $defs, definitions }).filter(([, group]) => group !== undefined),
  ) as Wire
  return Object.fromEntries(
    Object.entries(properties as Wire).map(([name, described]) => {
      const schema = isWire(described) ? described : {}
      const description = parameterText(schema, parts)
      return [
        name,
        {
          type: parameterType(schema),
          ...(description === '' ? {} : { description }),
          isRequired: required.has(name),
        },
      ]
    }),
  )
}

function parameterText(schema: Wire, parts: Wire): string {
  const { description, type, title: _title, ...rest } = schema
  const text = wireText(description)
  const simple = typeof type === 'string' && Object.keys(rest).length === 0
  if (simple) return text
  const whole = { ...(type === undefined ? {} : { type }), ...rest }
  const json = JSON.stringify(whole)
  const words = `JSON Schema: ${json.includes('"$ref"') ? JSON.stringify({ ...whole, ...parts }) : json}`
  return text === '' ? words : `${text} (${words})`
}

/** One word for what a schema allows: of several, the first that is no `null`. */
function parameterType(schema: Wire): string {
  if (typeof schema.type === 'string') return schema.type
  const values = [...wireList(schema.enum), ...(Object.hasOwn(schema, 'const') ? [schema.const] : [])]
  const types = [
    ...wireList(schema.type),
    ...[...wireList(schema.anyOf), ...wireList(schema.oneOf)].map((variant) => (isWire(variant) ? variant.type : null)),
    ...values.map((value) => (value === null ? 'null' : typeof value)),
  ]
  const known = types.find((type) => typeof type === 'string' && type !== 'null')
  return typeof known === 'string' ? known : 'object'
}
