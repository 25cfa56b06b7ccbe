import type { ModelRequest, OfferedTool, OutputFormat } from '@sluice/core'
import type { ProtocolBehaviour } from '../behaviour/protocol-behaviour.js'
import { oncePerObject } from '../shared/once-per-object.js'
import { strictDialect } from '../shared/schema-dialect.js'
import { schemaUnsupported } from '../shared/schema-fault.js'
import type { StrictSchema } from '../shared/strict-schema.js'
import { toStrictSchema } from '../shared/strict-schema.js'
import { toLooseSchema, toolRootFaults } from '../shared/tool-schema.js'
import type { Wire } from '../shared/wire-json.js'

/** A tool as both protocols describe a function; they only place it differently. */
export interface WireFunction {
  readonly name: string
  readonly description?: string
  readonly parameters: unknown
  readonly strict?: boolean
}

/** The schemas of one OpenAI protocol, each converted once for as long as its definition lives. */
export interface OpenAISchemas {
  /**
   * Strict wherever strict mode can express the schema: every key required, optional ones nullable. Where it cannot
   * (records, tuples, open objects), the tool is sent as it is and not strict, so that it spoils no other; core validates
   * the arguments by the author's schema either way.
   */
  tool(tool: OfferedTool): WireFunction
  /** @throws SCHEMA_UNSUPPORTED */
  output(format: OutputFormat): Wire
  wrapsOutput(schema: OutputFormat['schema']): boolean
  /** @throws SCHEMA_UNSUPPORTED */
  check(schema: OutputFormat['schema'], use: 'tool' | 'output'): void
}

const LOOSE = { tuples: 'anyOf', spelledOut: true } as const
const OUTPUT_NAME = /^[A-Za-z0-9_-]{1,64}$/

export function createOpenAISchemas(row: ProtocolBehaviour, strictTools: boolean): OpenAISchemas {
  const { protocol } = row
  const dialect = strictDialect(row)
  const strict = oncePerObject((schema: OutputFormat['schema']): StrictSchema => toStrictSchema(schema, dialect))

  function parameters(tool: OfferedTool): Pick<WireFunction, 'parameters' | 'strict'> {
    if (!strictTools) return { parameters: toLooseSchema(tool.inputSchema, LOOSE) }
    const { schema, wrapped, faults } = strict(tool.inputSchema)
    if (faults.length === 0 && !wrapped) return { parameters: schema, strict: true }
    return { parameters: toLooseSchema(tool.inputSchema, LOOSE), strict: false }
  }

  function usable(schema: OutputFormat['schema']): StrictSchema {
    const converted = strict(schema)
    if (converted.faults.length > 0) throw schemaUnsupported(protocol, 'output', converted.faults)
    return converted
  }

  return {
    tool: oncePerObject((tool: OfferedTool) => ({
      name: tool.name,
      ...(tool.description === '' ? {} : { description: tool.description }),
      ...parameters(tool),
    })),
    output: (format) => ({
      name: OUTPUT_NAME.test(format.name) ? format.name : 'structured_output',
      schema: usable(format.schema).schema,
      strict: true,
    }),
    wrapsOutput: (schema) => strict(schema).wrapped,
    check(schema, use) {
      if (use === 'output') {
        usable(schema)
        return
      }
      const faults = toolRootFaults(schema)
      if (faults.length > 0) throw schemaUnsupported(protocol, 'tool', faults)
    },
  }
}

/** Whether a choice among tools can be sent at all: without tools, the protocols refuse one. */
export function hasTools(request: ModelRequest): boolean {
  return request.tools.length > 0 || request.hostedTools.length > 0
}
