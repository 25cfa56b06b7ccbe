import type { AcceptedDifference } from './difference.js'
import { dropMembers, schemaShape } from './difference.js'
import { CHAT_DIFFERENCES } from './differences-chat.js'
import type { Raw } from './raw-json.js'

const messages = (body: Raw): Raw[] => (body.messages ?? []) as Raw[]
const bare = '</think>'

/** Differences of requests to Ollama's own chat. */
export const OLLAMA_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    what: 'output cap',
    reason: 'Every request of ours has an explicit cap; most clients left it to the model.',
    apply({ recorded, ours }) {
      if (recorded.options?.num_predict === undefined) delete ours.options.num_predict
    },
  },
  {
    what: 'members without a value',
    reason: 'A client spells out that there is no tool, no format, no option, and no time to keep the model.',
    apply({ recorded, ours }) {
      if (recorded.tools?.length === 0) delete recorded.tools
      if (recorded.format === '') delete recorded.format
      if (ours.format === '') delete ours.format
      if (recorded.keep_alive === null) delete recorded.keep_alive
      for (const body of [recorded, ours])
        if (Object.keys(body.options ?? { none: 1 }).length === 0) delete body.options
    },
  },
  {
    what: 'tool schemas',
    reason: "We send the author's schema without its draft; the names of all keys must agree.",
    apply({ recorded, ours }) {
      for (const tool of [...((recorded.tools ?? []) as Raw[]), ...((ours.tools ?? []) as Raw[])]) {
        tool.function.parameters = schemaShape(tool.function.parameters)
      }
    },
  },
  {
    what: 'answer schema',
    reason: 'We send what a grammar can say; the names of all keys must agree.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) if (body.format !== undefined) body.format = schemaShape(body.format)
    },
  },
  {
    what: 'ids and names of calls',
    reason: 'We name the call of each result by id and by tool; the clients by neither, or by tool, and by order.',
    apply({ recorded, ours }) {
      for (const call of [...messages(recorded), ...messages(ours)].flatMap((message) => message.tool_calls ?? [])) {
        dropMembers(call, 'id', 'type')
      }
      const named = messages(recorded).some((message) => message.tool_name !== undefined)
      for (const message of messages(ours)) dropMembers(message, 'tool_call_id', ...(named ? [] : ['tool_name']))
    },
  },
  {
    what: 'reasoning inside of the text',
    reason: `A client took text before a bare ${bare} for reasoning; we leave it the text that the model gave.`,
    apply({ recorded, ours, name }) {
      if (!/^ollama\/tool-(call-roundtrip|loop-four-rounds)#/.test(name)) return
      for (const message of [...messages(recorded), ...messages(ours)].filter(({ role }) => role === 'assistant')) {
        message.content = `${message.thinking ?? ''}${message.content}`.replace(bare, '').trim()
        delete message.thinking
      }
    },
  },
]

/** Differences of requests to its compatible endpoint. */
export const OLLAMA_V1_DIFFERENCES: readonly AcceptedDifference[] = [
  ...CHAT_DIFFERENCES.filter(({ what }) =>
    ['stream: false', 'tool schemas', 'output cap', 'content as text', 'content beside tool calls'].includes(what),
  ),
  {
    what: 'reasoning said twice',
    reason: 'A client sends reasoning back under both names that servers give it; we under the one that it came with.',
    apply({ recorded, ours }) {
      for (const message of [...messages(recorded), ...messages(ours)]) {
        if (message.reasoning !== undefined) delete message.reasoning_content
      }
    },
  },
]
