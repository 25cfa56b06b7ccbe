import type { JsonObject, OfferedTool } from '@sluice/core'
import { OLLAMA_CHAT } from '../behaviour/ollama-behaviour.js'
import { oncePerObject } from '../shared/once-per-object.js'
import type { SchemaFault } from '../shared/schema-fault.js'
import { schemaUnsupported } from '../shared/schema-fault.js'
import { resolveRef } from '../shared/schema-refs.js'
import { toLooseSchema, toolRootFaults } from '../shared/tool-schema.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire } from '../shared/wire-json.js'

const PROTOCOL = 'ollama-chat'
const LOOSE = { tuples: 'prefixItems', spelledOut: true } as const

/** What a grammar cannot say. */
const REFUSED = [
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'contains',
  'patternProperties',
  'unevaluatedProperties',
  '$dynamicRef',
]

/** What makes the shape of a schema, and what is said of it to the model. */
const SHAPE = [
  'type',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  '$ref',
  '$defs',
  'definitions',
]
/**
 * Of the constraints, those that a grammar carries. Others make it too large, or the request is refused (a pattern must be
 * anchored, a count is unrolled): they are left out, and our validation enforces them on the reply.
 */
const CARRIED = new Set<string>([...SHAPE, ...(OLLAMA_CHAT.schemas.constraints ?? [])])
const FORMATS = new Set<string>(OLLAMA_CHAT.schemas.formats)
const MAPS = new Set(['properties', '$defs', 'definitions'])

interface Converted {
  readonly schema: Wire
  readonly faults: readonly SchemaFault[]
}

/** The schemas of the Ollama API, each converted once for as long as its definition lives. */
export interface OllamaSchemas {
  /** Tools are described to the model in words, so theirs is sent as the author wrote it. */
  tool(tool: OfferedTool): Wire
  /** The server makes a grammar of it, whatever its root is. @throws SCHEMA_UNSUPPORTED */
  output(schema: JsonObject): Wire
  /** @throws SCHEMA_UNSUPPORTED */
  check(schema: JsonObject, use: 'tool' | 'output'): void
}

export function createOllamaSchemas(): OllamaSchemas {
  const converted = oncePerObject((schema: JsonObject) => toGrammarSchema(schema))

  function output(schema: JsonObject): Wire {
    const { schema: wire, faults } = converted(schema)
    if (faults.length > 0) throw schemaUnsupported(PROTOCOL, 'output', faults)
    return wire
  }

  return {
    tool: oncePerObject((tool: OfferedTool) => ({
      type: 'function',
      function: {
        name: tool.name,
        ...(tool.description === '' ? {} : { description: tool.description }),
        parameters: parameters(tool.inputSchema),
      },
    })),
    output,
    check(schema, use) {
      if (use === 'output') output(schema)
      else {
        const faults = toolRootFaults(schema)
        if (faults.length > 0) throw schemaUnsupported(PROTOCOL, 'tool', faults)
      }
    },
  }
}

/** A property that is described by `true` would make the server refuse the whole request. */
function parameters(inputSchema: JsonObject): JsonObject {
  const schema = toLooseSchema(inputSchema, LOOSE)
  const properties = Object.entries(schema.properties as Wire).map(([key, value]) => [key, isWire(value) ? value : {}])
  return { ...schema, properties: Object.fromEntries(properties) as JsonObject }
}

function toGrammarSchema(root: JsonObject): Converted {
  const faults: SchemaFault[] = []

  function convert(node: unknown, path: string): unknown {
    if (!isWire(node)) return node
    for (const keyword of REFUSED) {
      if (Object.hasOwn(node, keyword)) faults.push({ path: path || '(root)', problem: `uses "${keyword}"` })
    }
    if (typeof node.$ref === 'string' && resolveRef(root, node.$ref) === undefined) {
      faults.push({ path: path || '(root)', problem: `refers to "${node.$ref}", which is not in the schema` })
    }
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key, value]) => isCarried(key, value))
        .map(([key, value]) => [key, inside(key, value, path)]),
    )
  }

  function inside(key: string, value: unknown, path: string): unknown {
    if (key === 'enum' || key === 'const') return value
    if (MAPS.has(key) && isWire(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, schema]) => [name, convert(schema, placeOf(path, key, name))]),
      )
    }
    if (Array.isArray(value)) return value.map((each) => convert(each, path))
    return convert(value, key === 'items' ? `${path}[]` : path)
  }

  return { schema: convert(root, '') as Wire, faults }
}

function placeOf(path: string, key: string, name: string): string {
  if (key !== 'properties') return `#${name}`
  return path === '' ? name : `${path}.${name}`
}

function isCarried(key: string, value: unknown): boolean {
  return CARRIED.has(key) && (key !== 'format' || FORMATS.has(String(value)))
}
