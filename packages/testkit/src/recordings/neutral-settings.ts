import type { FilePart, OfferedHostedTool, OfferedTool } from '@sluice/core'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf } from './recorded-json.js'

/** The output cap of a request that was recorded without one. */
export const DEFAULT_CAP = 8192

/** The object without members that are `undefined` or `null`. */
export function compact(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}

/** The offered tools of a recorded list: `functionOf` gives what describes a function, `undefined` for hosted tools. */
export function toolsOf(
  list: unknown,
  functionOf: (tool: Wire) => Wire | undefined,
): { tools: OfferedTool[]; hostedTools: OfferedHostedTool[] } {
  const tools: OfferedTool[] = []
  const hostedTools: OfferedHostedTool[] = []
  for (const tool of listOf(list)) {
    const described = functionOf(tool)
    if (described === undefined) {
      hostedTools.push({
        code: textOf(tool.name) || textOf(tool.type),
        configuration: tool as OfferedHostedTool['configuration'],
      })
      continue
    }
    const schema = described.parameters ?? described.input_schema
    tools.push({
      name: textOf(described.name),
      description: textOf(described.description),
      inputSchema: (isWire(schema) ? schema : { type: 'object', properties: {} }) as OfferedTool['inputSchema'],
    })
  }
  return { tools, hostedTools }
}

/** The answer format of `{ name, schema }`, where there is one. */
export function outputOf(format: Wire | undefined): { name: string; schema: unknown } | undefined {
  return format === undefined ? undefined : { name: textOf(format.name) || 'structured_output', schema: format.schema }
}

/** A file from its data URL. */
export function dataUrlFile(url: string): FilePart {
  const match = /^data:([^;,]*);base64,(.*)$/s.exec(url)
  return { type: 'file', mediaType: match?.[1] ?? 'application/octet-stream', data: match?.[2] ?? '' }
}
