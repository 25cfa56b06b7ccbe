import type { AcceptedDifference } from './difference.js'
import { schemaShape } from './difference.js'
import type { Raw } from './raw-json.js'

const chatOf = (body: Raw): Raw => body.chatRequest as Raw

/** Differences of requests to OCI's chat, of both forms. */
export const OCI_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    what: 'isStream: false',
    reason: 'The default, which the client spells out.',
    apply({ recorded }) {
      if (chatOf(recorded).isStream === false) delete chatOf(recorded).isStream
    },
  },
  {
    what: 'history without a turn',
    reason: 'The client spells out that there is no history.',
    apply({ recorded }) {
      if (chatOf(recorded).chatHistory?.length === 0) delete chatOf(recorded).chatHistory
    },
  },
  {
    what: 'tool schemas',
    reason: "We send the author's schema without its draft; the names of all keys must agree.",
    apply({ recorded, ours }) {
      for (const tool of [...(chatOf(recorded).tools ?? []), ...(chatOf(ours).tools ?? [])] as Raw[]) {
        if (tool.parameters !== undefined) tool.parameters = schemaShape(tool.parameters)
      }
    },
  },
  {
    what: 'outputs of another call',
    reason: 'The client gives the results of the calls before again with each; we give each call its own.',
    apply({ recorded }) {
      for (const result of (chatOf(recorded).toolResults ?? []) as Raw[]) result.outputs = result.outputs.slice(-1)
    },
  },
]
