import type { Message } from '../messages/message.js'
import { callsOf } from './repair-history.js'

/** Bounds of what is sent to a model of a conversation. Without a bound, everything is sent. */
export interface HistoryBounds {
  /** Most messages to keep besides the system message; a round is never cut, so there may be one or two more. */
  readonly maxMessages?: number | null
  /** Most bytes of text, arguments, results and file data to keep, the system message included. */
  readonly maxBytes?: number | null
}

/**
 * The part of a valid history that is sent to a model (S-40): the leading system messages, the newest messages within the
 * bounds, and always the newest user message. A round (an assistant message with tool calls and its results) is kept or
 * dropped whole. A cut history begins with a user message, as some protocols want: the one that led to the first message
 * kept. A history within its bounds is returned by identity; the log is never touched (S-39).
 */
export function historyWindow(messages: readonly Message[], bounds: HistoryBounds): readonly Message[] {
  const maxMessages = bounds.maxMessages ?? Number.POSITIVE_INFINITY
  const maxBytes = bounds.maxBytes ?? Number.POSITIVE_INFINITY
  const lead = leadingSystem(messages)
  const countFits = messages.length - lead <= maxMessages
  if (countFits && (maxBytes === Number.POSITIVE_INFINITY || sizeOf(messages, 0, messages.length) <= maxBytes)) {
    return messages
  }
  const newestUser = lastUser(messages, messages.length - 1, lead)
  const fixed =
    newestUser < 0
      ? sizeOf(messages, 0, lead)
      : sizeOf(messages, 0, lead) + messageBytes(messages[newestUser] as Message)
  const room = new Room(maxMessages, maxBytes, fixed, newestUser)
  let start = messages.length
  while (start > lead) {
    const unit = unitStart(messages, start - 1, lead)
    if (!room.takes(messages, unit, start)) break
    start = unit
  }
  return assemble(messages, { lead, start, newestUser, room })
}

/** UTF-8 bytes of what a message carries: an estimate of its share of a request, without the protocol's own words. */
export function messageBytes(message: Message): number {
  if (typeof message.content === 'string') return Buffer.byteLength(message.content)
  let bytes = 0
  for (const part of message.content) {
    switch (part.type) {
      case 'file':
        bytes += part.data.length
        break
      case 'tool_call':
        bytes += Buffer.byteLength(part.toolName) + Buffer.byteLength(part.args)
        break
      case 'tool_result':
        bytes += Buffer.byteLength(part.result)
        break
      default:
        bytes += Buffer.byteLength(part.text)
    }
    if (part.providerOptions !== undefined) bytes += Buffer.byteLength(JSON.stringify(part.providerOptions))
  }
  return bytes
}

/** What is left of the bounds while units are taken from the end. The newest user message has its place in any case. */
class Room {
  readonly #maxMessages: number
  readonly #newestUser: number
  #bytesLeft: number
  #taken = 0

  constructor(maxMessages: number, maxBytes: number, fixedBytes: number, newestUser: number) {
    this.#maxMessages = maxMessages
    this.#newestUser = newestUser
    this.#bytesLeft = maxBytes - fixedBytes
  }

  takes(messages: readonly Message[], from: number, end: number): boolean {
    if (from === this.#newestUser) {
      this.#taken += 1
      return true
    }
    if (this.#taken >= this.#maxMessages || !this.fits(messages, from, end)) return false
    this.#taken += end - from
    return true
  }

  fits(messages: readonly Message[], from: number, end: number): boolean {
    if (this.#bytesLeft === Number.POSITIVE_INFINITY) return true
    const bytes = sizeOf(messages, from, end)
    if (bytes > this.#bytesLeft) return false
    this.#bytesLeft -= bytes
    return true
  }
}

function assemble(
  messages: readonly Message[],
  cut: { lead: number; start: number; newestUser: number; room: Room },
): readonly Message[] {
  const { lead, newestUser, room } = cut
  let { start } = cut
  if (start <= lead) return messages
  const head = messages.slice(0, lead)
  if (newestUser >= 0 && newestUser < start) head.push(messages[newestUser] as Message)
  else if (messages[start]?.role !== 'user') {
    const question = lastUser(messages, start, lead)
    if (question >= 0 && room.fits(messages, question, question + 1)) head.push(messages[question] as Message)
    else if (newestUser >= start) while (messages[start]?.role !== 'user') start += 1
  }
  return start >= messages.length ? head : head.concat(messages.slice(start))
}

function leadingSystem(messages: readonly Message[]): number {
  let lead = 0
  while (messages[lead]?.role === 'system') lead += 1
  return lead
}

function lastUser(messages: readonly Message[], from: number, lead: number): number {
  for (let index = from; index >= lead; index--) if (messages[index]?.role === 'user') return index
  return -1
}

/** Where the round that ends at `end` begins; `end` itself for a message that stands alone. */
function unitStart(messages: readonly Message[], end: number, lead: number): number {
  let index = end
  while (index > lead && messages[index]?.role === 'tool') index -= 1
  return index === end || callsOf(messages[index]).length > 0 ? index : end
}

function sizeOf(messages: readonly Message[], from: number, end: number): number {
  let bytes = 0
  for (let index = from; index < end; index++) bytes += messageBytes(messages[index] as Message)
  return bytes
}
