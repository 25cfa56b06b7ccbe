import type { AssistantPart } from '@sluice/core'
import type { WireReply } from './wire-protocol.js'
import { parseObject } from './wire-json.js'

/** The key under which an answer travels whose schema is no object. */
export const WRAPPED_KEY = 'value'

/** The text of a wrapped answer without its wrapping; as it came, where it is not what was asked for. */
export function unwrapText(text: string): string {
  const value = parseObject(text)
  return value !== undefined && Object.hasOwn(value, WRAPPED_KEY) ? JSON.stringify(value[WRAPPED_KEY]) : text
}

/** The reply with its texts unwrapped. */
export function unwrapReply(reply: WireReply): WireReply {
  const parts = reply.parts.map(
    (part): AssistantPart => (part.type === 'text' ? { ...part, text: unwrapText(part.text) } : part),
  )
  return { ...reply, parts }
}
