import type { AcceptedDifference } from './difference.js'
import { without } from './difference.js'
import { CHAT_DIFFERENCES } from './differences-chat.js'
import type { Raw } from './raw-json.js'

const UNSEEN = ['store', 'members of answers sent back', 'index of tool calls', 'refusals as text']

/** Differences of requests to OpenRouter. */
export const OPENROUTER_DIFFERENCES: readonly AcceptedDifference[] = [
  ...without(CHAT_DIFFERENCES, UNSEEN),
  {
    what: 'usage of streams',
    reason: 'We ask for the figures of every stream; most clients left that to the server, which sends them by now.',
    apply({ recorded, ours }) {
      if (recorded.stream === true && recorded.stream_options === undefined) delete ours.stream_options
    },
  },
  {
    what: 'format of reasoning details',
    reason: 'We send the details back as they came; the client forgot their format, and gave them an empty id.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        for (const message of body.messages as Raw[]) {
          for (const detail of (message.reasoning_details ?? []) as Raw[]) {
            delete detail.format
            if (detail.id === null) delete detail.id
          }
        }
      }
    },
  },
]
