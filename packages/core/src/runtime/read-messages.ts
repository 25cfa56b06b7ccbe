import type { Faults } from '../errors/faults.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import type { Message } from '../messages/message.js'

/** The part types that each role takes. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'file'],
  assistant: ['text', 'file', 'reasoning', 'tool_call', 'refusal', 'hosted'],
  tool: ['tool_result'],
}
/** The texts that a part of each type must have. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  file: ['mediaType', 'data'],
  reasoning: ['text'],
  tool_call: ['toolCallId', 'toolName', 'args'],
  refusal: ['text'],
  hosted: ['toolName', 'text'],
  tool_result: ['toolCallId', 'toolName', 'result'],
}

/** Reads a conversation that a caller wrote: strings become text items (G-19); what cannot be meant is a fault by its place. */
export function readMessages(given: unknown, faults: Faults): readonly Message[] {
  if (!Array.isArray(given) || given.length === 0) {
    faults.add('messages', 'must be a list of at least one message')
    return []
  }
  return given
    .map((message, index) => readMessage(message, `messages.${index}`, faults))
    .filter((message) => message !== undefined)
}

function readMessage(given: unknown, place: string, faults: Faults): Message | undefined {
  if (!isPlainObject(given) || !isPlainJson(given)) {
    faults.add(place, 'must be a plain object of JSON data')
    return undefined
  }
  const { role, content } = given
  if (role === 'system') {
    if (typeof content !== 'string') faults.add(`${place}.content`, 'of a system message must be a text')
    return given as unknown as Message
  }
  const known = typeof role === 'string' && Object.hasOwn(PARTS, role) ? PARTS[role] : undefined
  if (known === undefined) {
    faults.add(`${place}.role`, "must be 'system', 'user', 'assistant' or 'tool'")
    return undefined
  }
  if (typeof content === 'string' && role !== 'tool')
    return { ...given, content: [{ type: 'text', text: content }] } as unknown as Message
  if (!Array.isArray(content)) {
    faults.add(`${place}.content`, 'must be a list of parts')
    return undefined
  }
  for (const [index, part] of content.entries()) checkPart(part, known, `${place}.content.${index}`, faults)
  if (role === 'tool')
    return {
      ...given,
      content: content.map((part: Record<string, unknown>) => ('status' in part ? part : { ...part, status: 'ok' })),
    } as unknown as Message
  return given as unknown as Message
}

function checkPart(part: unknown, known: readonly string[], place: string, faults: Faults): void {
  const type = isPlainObject(part) ? part.type : undefined
  if (typeof type !== 'string' || !known.includes(type)) {
    faults.add(`${place}.type`, `must be one of ${known.join(', ')}`)
    return
  }
  for (const key of TEXTS[type] ?? [])
    if (typeof (part as Record<string, unknown>)[key] !== 'string') faults.add(`${place}.${key}`, 'must be a text')
}
