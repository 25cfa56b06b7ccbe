import type { AssistantMessage, JsonObject, JsonValue, Label, Message } from '@sluice/core'
import { historyWindow } from '@sluice/core'
import type { Managed } from './history-management.js'
import { labelsOf } from './labels-of.js'

/** Stands for the message that the turn adds, which the window counts. */
const NEXT: Message = Object.freeze({ role: 'user', content: Object.freeze([]) })

/** Strategies over the messages of a model: its system prompt stays, and no call loses its result. */
export function managedMessages(besides: readonly Label[]): Managed<Message> {
  return {
    window: (messages, most) => historyWindow([...messages, NEXT], { maxMessages: most }).slice(0, -1),
    cutAt(messages, keep) {
      // what goes on begins with a question
      for (let index = messages.length - keep; index > leadOf(messages); index--)
        if (messages[index]?.role === 'user') return index
      return 0
    },
    told: (messages) => messages.flatMap(toldOf),
    labels: (messages) => labelsOf(messages, besides),
    replaced: (messages, cut, summary) => [
      ...messages.slice(0, leadOf(messages)),
      { role: 'system', content: `Summary of the earlier conversation:\n${summary}` },
      ...messages.slice(cut),
    ],
  }
}

/** How many system messages a conversation begins with. */
function leadOf(messages: readonly Message[]): number {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return first < 0 ? messages.length : first
}

/** What a summariser needs to know of a message. */
function toldOf(message: Message): JsonValue[] {
  if (message.role === 'system') return []
  if (message.role === 'tool')
    return message.content.map(({ toolName, result }) => ({ role: 'tool_result', tool: toolName, text: result }))
  const text = textOf(message)
  const said: JsonObject[] = text === null ? [] : [{ role: message.role, text }]
  if (message.role === 'user') return said
  return [...said, ...callsOf(message).map(({ toolName, args }) => ({ role: 'tool_call', tool: toolName, text: args }))]
}

/** The calls that an assistant message asks for. */
export function callsOf(message: AssistantMessage) {
  return message.content.flatMap((part) => (part.type === 'tool_call' ? [part] : []))
}

/** The text of a message; `null` where it has none. */
export function textOf(message: Exclude<Message, { readonly role: 'tool' }>): string | null {
  if (typeof message.content === 'string') return message.content
  const parts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return parts.length === 0 ? null : parts.join('')
}
