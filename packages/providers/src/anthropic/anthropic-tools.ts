import type { JsonObject, OfferedTool, OutputFormat } from '@sluice/core'
import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import { oncePerObject } from '../shared/once-per-object.js'
import { strictDialect } from '../shared/schema-dialect.js'
import { schemaUnsupported } from '../shared/schema-fault.js'
import type { StrictSchema } from '../shared/strict-schema.js'
import { toStrictSchema } from '../shared/strict-schema.js'
import { toLooseSchema, toolRootFaults } from '../shared/tool-schema.js'
import type { Wire } from '../shared/wire-json.js'

const PROTOCOL = 'anthropic-messages'
const LOOSE = { tuples: 'prefixItems', spelledOut: false } as const

/** The schemas of the Messages API, each converted once for as long as its definition lives. */
export interface AnthropicSchemas {
  /** Tools take any JSON Schema of an object, so theirs is sent as the author wrote it. */
  tool(tool: OfferedTool): Wire
  /** The strictest form that the protocol has: `output_config.format`. @throws SCHEMA_UNSUPPORTED */
  output(format: OutputFormat): Wire
  wrapsOutput(schema: JsonObject): boolean
  /** @throws SCHEMA_UNSUPPORTED */
  check(schema: JsonObject, use: 'tool' | 'output'): void
}

export function createAnthropicSchemas(): AnthropicSchemas {
  const dialect = strictDialect(ANTHROPIC_MESSAGES)
  const strict = oncePerObject((schema: JsonObject): StrictSchema => toStrictSchema(schema, dialect))

  function usable(schema: JsonObject): JsonObject {
    const converted = strict(schema)
    if (converted.faults.length > 0) throw schemaUnsupported(PROTOCOL, 'output', converted.faults)
    return converted.schema
  }

  return {
    tool: oncePerObject((tool: OfferedTool) => ({
      name: tool.name,
      ...(tool.description === '' ? {} : { description: tool.description }),
      input_schema: toLooseSchema(tool.inputSchema, LOOSE),
    })),
    output: (format) => ({ format: { type: 'json_schema', schema: usable(format.schema) } }),
    wrapsOutput: (schema) => strict(schema).wrapped,
    check(schema, use) {
      const faults = use === 'tool' ? toolRootFaults(schema) : strict(schema).faults
      if (faults.length > 0) throw schemaUnsupported(PROTOCOL, use, faults)
    },
  }
}
