import type { Message } from '@sluice/core'
import { callsOf, textOf } from '../orchestration/managed-messages.js'

/** The conversation of a handoff, and who made each message: `null` for the caller. */
export interface SpokenHistory {
  readonly messages: readonly Message[]
  readonly by: readonly (string | null)[]
}

/**
 * What one member has seen and said since control came to it last (F-17). What the caller said belongs to whoever spoke next;
 * a prompt of the member's own, behind what others said, began another run of it.
 */
export function memberHistory({ messages, by }: SpokenHistory, member: string): readonly Message[] {
  let own: Message[] = []
  let given: Message[] = []
  for (const [index, message] of messages.entries()) {
    const speaker = by[index] ?? null
    if (speaker === null) {
      given.push(message)
      continue
    }
    const taken = given
    given = []
    if (speaker !== member) continue
    const begins = (message.role === 'system' || message.role === 'user') && (by[index - 1] ?? null) !== member
    own = begins ? [message] : [...own, ...taken, message]
  }
  return [...own, ...given]
}

/** An answer of one agent. */
export interface Answer {
  readonly agent: string
  readonly response: string
}

/** What the members answered in earlier turns, those included that then handed over. */
export function earlierAnswers({ messages, by }: SpokenHistory, isTransfer: (toolName: string) => boolean): Answer[] {
  return messages.flatMap((message, index) => {
    const agent = by[index] ?? null
    if (message.role !== 'assistant' || agent === null) return []
    const calls = callsOf(message)
    if (calls.length > 0 && !calls.some(({ toolName }) => isTransfer(toolName))) return []
    const response = textOf(message)
    return response === null || response === '' ? [] : [{ agent, response }]
  })
}
