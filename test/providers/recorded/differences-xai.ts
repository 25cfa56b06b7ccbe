import type { AcceptedDifference } from './difference.js'
import { without } from './difference.js'
import { CHAT_DIFFERENCES } from './differences-chat.js'
import { RESPONSES_DIFFERENCES } from './differences-responses.js'
import type { Raw } from './raw-json.js'

/** Differences of requests to xAI on Chat Completions. */
export const XAI_CHAT_DIFFERENCES: readonly AcceptedDifference[] = without(CHAT_DIFFERENCES, [
  'store',
  'stream: false',
  'index of tool calls',
  'refusals as text',
])

/** Differences of requests to xAI on the Responses API. */
export const XAI_RESPONSES_DIFFERENCES: readonly AcceptedDifference[] = [
  ...without(RESPONSES_DIFFERENCES, [
    'stream: false',
    'status of items',
    'ids of calls that the client left out',
    'empty assistant messages',
    'previous_response_id',
    'answer schema',
    'reasoning that the provider refused',
  ]),
  {
    what: 'reasoning without its encrypted content',
    reason: 'The client sent items back by their ids, to be looked up there; state at the provider is off with us.',
    apply({ recorded }) {
      recorded.input = (recorded.input as Raw[]).filter(
        (item) => item.type !== 'reasoning' || item.encrypted_content !== undefined,
      )
    },
  },
]
