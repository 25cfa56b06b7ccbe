import type { Message, ToolCallPart, ToolResultPart } from '../messages/message.js'

/** What the model reads in place of a result that was never recorded. */
export const INTERRUPTED_CALL =
  'This tool call was interrupted before its result was recorded. It is not known whether it took effect.'

/** A history that every protocol accepts, and what had to be made up for it. */
export interface RepairedHistory {
  /** The messages given, by identity, where nothing had to be changed. */
  readonly messages: readonly Message[]
  /** Results that were made up, each with the place (in the messages given) of the assistant message that asked. */
  readonly added: readonly { readonly assistantIndex: number; readonly result: ToolResultPart }[]
}

/** A call that waits for its result. */
interface Slot {
  readonly call: ToolCallPart
  readonly round: number
  result: ToolResultPart | undefined
}

const NOTHING: RepairedHistory['added'] = Object.freeze([])

/**
 * Makes a history valid (CASE-13): each call has exactly one result, in call order, in one tool message directly behind the
 * assistant message that asked. Results that stand elsewhere are moved there, results without a call and second results
 * are dropped, a call without a result is answered with {@link INTERRUPTED_CALL} and status `unknown`.
 */
export function repairHistory(messages: readonly Message[]): RepairedHistory {
  if (isWhole(messages)) return { messages, added: NOTHING }
  const rounds = matchResults(messages)
  const repaired: Message[] = []
  const added: { assistantIndex: number; result: ToolResultPart }[] = []
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as Message
    if (message.role === 'tool') continue
    repaired.push(message)
    const slots = rounds.get(index)
    if (slots === undefined) continue
    const content = slots.map((slot) => {
      if (slot.result !== undefined) return slot.result
      const result = interrupted(slot.call)
      added.push({ assistantIndex: index, result })
      return result
    })
    repaired.push({ role: 'tool', content })
  }
  return { messages: repaired, added }
}

/** The tool calls of a message; empty for all but an assistant message that asks for tools. */
export function callsOf(message: Message | undefined): readonly ToolCallPart[] {
  if (message?.role !== 'assistant') return []
  return message.content.filter((part) => part.type === 'tool_call')
}

function isWhole(messages: readonly Message[]): boolean {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as Message
    if (message.role === 'tool') return false
    const calls = callsOf(message)
    if (calls.length === 0) continue
    index += 1
    const answer = messages[index]
    if (answer?.role !== 'tool' || answer.content.length !== calls.length) return false
    if (!calls.every((call, at) => call.toolCallId === answer.content[at]?.toolCallId)) return false
  }
  return true
}

/** Gives each result to its call: the newest round that still waits for this id, there the first such call. */
function matchResults(messages: readonly Message[]): Map<number, Slot[]> {
  const rounds = new Map<number, Slot[]>()
  const waiting = new Map<string, Slot[]>()
  messages.forEach((message, round) => {
    if (message.role === 'tool') {
      for (const result of message.content) takeNewest(waiting.get(result.toolCallId), result)
      return
    }
    const slots = callsOf(message).map((call): Slot => ({ call, round, result: undefined }))
    if (slots.length === 0) return
    rounds.set(round, slots)
    for (const slot of slots) {
      const sameId = waiting.get(slot.call.toolCallId)
      if (sameId === undefined) waiting.set(slot.call.toolCallId, [slot])
      else sameId.push(slot)
    }
  })
  return rounds
}

function takeNewest(slots: readonly Slot[] | undefined, result: ToolResultPart): void {
  let chosen: Slot | undefined
  for (const slot of slots ?? []) {
    if (slot.result === undefined && slot.round !== chosen?.round) chosen = slot
  }
  if (chosen !== undefined) chosen.result = result
}

function interrupted(call: ToolCallPart): ToolResultPart {
  return {
    type: 'tool_result',
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    result: INTERRUPTED_CALL,
    status: 'unknown',
  }
}
