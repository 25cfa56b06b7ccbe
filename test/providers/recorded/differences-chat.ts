import type { AcceptedDifference } from './difference.js'
import { asParts, dropMembers, jsonValue, schemaShape } from './difference.js'
import { OPENAI_DIFFERENCES } from './differences-openai.js'
import type { Raw } from './raw-json.js'

const messages = (body: Raw): Raw[] => (body.messages ?? []) as Raw[]

/** Differences of requests to Chat Completions. */
export const CHAT_DIFFERENCES: readonly AcceptedDifference[] = [
  ...OPENAI_DIFFERENCES,
  {
    what: 'output cap',
    reason:
      'Every request of ours has an explicit cap, under the name that the server knows; clients used either name.',
    apply({ recorded, ours }) {
      const cap = recorded.max_completion_tokens ?? recorded.max_tokens
      dropMembers(recorded, 'max_completion_tokens', 'max_tokens')
      const own = ours.max_completion_tokens ?? ours.max_tokens
      dropMembers(ours, 'max_completion_tokens', 'max_tokens')
      if (cap !== undefined) recorded.cap = cap
      if (cap !== undefined || typeof own !== 'number') ours.cap = own
    },
  },
  {
    what: 'content as text',
    reason: 'A single text is sent as a string, which every server takes; some clients send a list of one part.',
    apply({ recorded, ours }) {
      for (const message of [...messages(recorded), ...messages(ours)]) asParts(message, 'text')
    },
  },
  {
    what: 'content beside tool calls',
    reason: 'Without text we send null; clients send null, an empty text, or nothing.',
    apply({ recorded, ours }) {
      for (const message of [...messages(recorded), ...messages(ours)]) {
        if (message.tool_calls === undefined) continue
        const empty = Array.isArray(message.content) && message.content.every((piece: Raw) => piece.text === '')
        if (empty || message.content === null) delete message.content
      }
    },
  },
  {
    what: 'members of answers sent back',
    reason: 'A client echoes members that the answer had without a value; another names the tool beside its call id.',
    apply({ recorded }) {
      for (const message of messages(recorded)) {
        if (message.annotations?.length === 0) delete message.annotations
        if (message.refusal === null) delete message.refusal
        if (message.role === 'tool') delete message.name
      }
    },
  },
  {
    what: 'index of tool calls',
    reason: 'A client echoes the place that a fragment of a stream had.',
    apply({ recorded }) {
      for (const call of messages(recorded).flatMap((message) => (message.tool_calls ?? []) as Raw[])) delete call.index
    },
  },
  {
    what: 'white space of arguments',
    reason: 'We send arguments back exactly as the model wrote them; a client wrote them anew.',
    apply({ recorded, ours }) {
      for (const message of [...messages(recorded), ...messages(ours)]) {
        for (const call of (message.tool_calls ?? []) as Raw[]) {
          if (typeof call.function.arguments === 'string') call.function.arguments = jsonValue(call.function.arguments)
        }
      }
    },
  },
  {
    what: 'refusals as text',
    reason: 'We send a refusal back as one; a client sent it as text.',
    apply({ recorded, ours }) {
      const texts = new Set(
        messages(recorded)
          .flatMap((message) => message.content ?? [])
          .map((piece: Raw) => piece.text),
      )
      for (const piece of messages(ours).flatMap((message) => (message.content ?? []) as Raw[])) {
        if (piece.type !== 'refusal' || !texts.has(piece.refusal)) continue
        piece.type = 'text'
        piece.text = piece.refusal
        delete piece.refusal
      }
    },
  },
  {
    what: 'answer schema',
    reason: 'We send the strict form, and the format has no description of its own; the names of all keys must agree.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        const format = body.response_format?.json_schema as Raw | undefined
        if (format === undefined) continue
        format.schema = schemaShape(format.schema)
        delete format.description
      }
    },
  },
]
