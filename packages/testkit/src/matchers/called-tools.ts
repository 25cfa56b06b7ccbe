import type { Message, ToolCallRecord, ToolStatus } from '@sluice/core'

/** One tool call of a run: what the model asked for, and what became of it. */
export interface CalledTool {
  readonly toolCode: string
  readonly callId: string
  /** `undefined` where the run keeps no record of it. */
  readonly status: ToolStatus | undefined
  /** The parsed arguments; the text itself where it is no JSON. */
  readonly args: unknown
}

interface HasCalls {
  readonly messages?: readonly Message[]
  readonly toolCalls?: readonly ToolCallRecord[]
  /** Of an error that left a run. */
  readonly partial?: HasCalls
}

const NOT_CALLED: ReadonlySet<ToolStatus | undefined> = new Set(['not_run', 'invalid', 'vetoed', 'skipped_limit'])

/**
 * The tool calls of a run, of what `generateText` gave, or of an error that left one, in order. Calls that came to nothing
 * (not run, invalid, vetoed, beyond the bound) are left out unless a status is asked for.
 */
export function calledTools(run: unknown): readonly CalledTool[] {
  const given = (run ?? {}) as HasCalls
  const source = given.partial ?? given
  const records = new Map((source.toolCalls ?? []).map((record) => [record.callId, record]))
  const parts = (source.messages ?? []).flatMap((message) =>
    message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool_call') : [],
  )
  const asked = new Map(parts.map((part) => [part.toolCallId, part]))
  const calls = (source.toolCalls ?? []).map(
    (record): CalledTool => ({ ...record, args: parse(asked.get(record.callId)?.args) }),
  )
  // a conversation that was read back has no records of its calls
  for (const part of parts) {
    if (records.has(part.toolCallId)) continue
    calls.push({ toolCode: part.toolName, callId: part.toolCallId, status: undefined, args: parse(part.args) })
  }
  return calls
}

/** True for a call whose handler was entered, or that a gate answered in its place. */
export function wasCalled(call: CalledTool): boolean {
  return !NOT_CALLED.has(call.status)
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
