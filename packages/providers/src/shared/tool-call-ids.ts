import { createHash } from 'node:crypto'
import type { ModelRequest } from '@sluice/core'
import { wireName } from './wire-json.js'

const LONGEST_ID = 256
const PLAIN_ID = /^[A-Za-z0-9_-]+$/
const MAPPED_ID = /^x_[A-Za-z0-9_-]{38}$/

/**
 * A tool-call id in the form that every protocol takes: letters, digits, `_` and `-`, at most `longest` characters. An id
 * that fits goes out as it is; any other becomes a digest of itself, so that the same neutral id is always the same wire
 * id and two neutral ids never share one. Nothing is kept: the mapping is a function of the id alone.
 */
export function wireCallId(id: string, longest: number): string {
  if (id.length <= longest && PLAIN_ID.test(id) && !MAPPED_ID.test(id)) return id
  return `x_${createHash('sha256').update(id).digest('base64url').slice(0, 38)}`
}

/** Hands out the tool-call ids of one reply. */
export interface ToolCallIds {
  /**
   * The id of a call for which the provider gave `raw`: the same, where it is there and new; else a fresh
   * `tool_call_<n>`, n counted over the whole conversation (G-23, CASE-16).
   */
  claim(raw: unknown): string
}

/** Ids for a reply to `request`: none that its history holds already is given a second time. */
export function createToolCallIds(request: ModelRequest): ToolCallIds {
  let taken: Set<string> | undefined
  let calls = 0
  return {
    claim(raw) {
      if (taken === undefined) {
        taken = idsOf(request)
        calls = taken.size
      }
      calls += 1
      const given = wireName(raw)
      let id = given !== undefined && given.length <= LONGEST_ID ? given : `tool_call_${calls}`
      for (let next = calls; taken.has(id); next++) id = `tool_call_${next}`
      taken.add(id)
      return id
    },
  }
}

function idsOf(request: ModelRequest): Set<string> {
  const ids = new Set<string>()
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.toolCallId)
  }
  return ids
}
