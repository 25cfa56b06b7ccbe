import type { JsonObject, OfferedTool, OutputFormat } from '@sluice/core'
import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import { oncePerObject } from '../shared/once-per-object.js'
import type { SchemaDialect } from '../shared/schema-dialect.js'
import { strictDialect } from '../shared/schema-dialect.js'
import { schemaUnsupported } from '../shared/schema-fault.js'
import type { StrictSchema } from '../shared/strict-schema.js'
import { toStrictSchema } from '../shared/strict-schema.js'
import { toLooseSchema, toolRootFaults } from '../shared/tool-schema.js'
import type { Wire } from '../shared/wire-json.js'

const PROTOCOL = GOOGLE_GENERATE_CONTENT.protocol
const LOOSE = { tuples: 'prefixItems', spelledOut: false } as const

/**
 * What `responseJsonSchema` carries. Records and tuples have their keywords; there is no `const`, and `enum` holds strings
 * and numbers only. A reference may come back to itself through keys that may be absent alone, which few schemas keep to:
 * recursion is refused.
 */
const DIALECT: SchemaDialect = {
  ...strictDialect(GOOGLE_GENERATE_CONTENT),
  records: true,
  tuples: true,
  literals: 'enum',
}

/** The schemas of generateContent, each converted once for as long as its definition lives. */
export interface GoogleSchemas {
  /** Tools take any JSON Schema of an object, so theirs is sent as the author wrote it. */
  tool(tool: OfferedTool): Wire
  /** The members of `generationConfig` that ask for the answer's form. @throws SCHEMA_UNSUPPORTED */
  output(format: OutputFormat): Wire
  wrapsOutput(schema: JsonObject): boolean
  /** @throws SCHEMA_UNSUPPORTED */
  check(schema: JsonObject, use: 'tool' | 'output'): void
}

export function createGoogleSchemas(): GoogleSchemas {
  const strict = oncePerObject((schema: JsonObject): StrictSchema => toStrictSchema(schema, DIALECT))

  function usable(schema: JsonObject): JsonObject {
    const converted = strict(schema)
    if (converted.faults.length > 0) throw schemaUnsupported(PROTOCOL, 'output', converted.faults)
    return converted.schema
  }

  return {
    tool: oncePerObject((tool: OfferedTool) => ({
      name: tool.name,
      ...(tool.description === '' ? {} : { description: tool.description }),
      parametersJsonSchema: toLooseSchema(tool.inputSchema, LOOSE),
    })),
    output: (format) => ({ responseMimeType: 'application/json', responseJsonSchema: usable(format.schema) }),
    wrapsOutput: (schema) => strict(schema).wrapped,
    check(schema, use) {
      const faults = use === 'tool' ? toolRootFaults(schema) : strict(schema).faults
      if (faults.length > 0) throw schemaUnsupported(PROTOCOL, use, faults)
    },
  }
}
