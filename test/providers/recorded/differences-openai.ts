import type { AcceptedDifference } from './difference.js'
import { dropMembers, schemaShape } from './difference.js'
import type { Raw } from './raw-json.js'

/** Differences that both OpenAI protocols have. */
export const OPENAI_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    what: 'store',
    reason:
      'State at the provider is off: we say `store: false`, the recorded clients left the default or asked for it.',
    apply({ recorded, ours }) {
      dropMembers(recorded, 'store')
      if (ours.store === false) delete ours.store
    },
  },
  {
    what: 'stream: false',
    reason: 'The default, which some clients spell out.',
    apply: ({ recorded }) => {
      if (recorded.stream === false) delete recorded.stream
    },
  },
  {
    what: 'tool schemas',
    reason:
      'We send the strict form (or say that it is not strict); the clients sent theirs as it was written. The names of all keys must agree. A description that is null or empty is left out.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        for (const tool of (body.tools ?? []) as Raw[]) {
          const described = (tool.function ?? tool) as Raw
          if (tool.type !== 'function') continue
          if (!described.description) delete described.description
          described.parameters = schemaShape(described.parameters ?? described.input_schema)
          dropMembers(described, 'strict', 'input_schema')
        }
      }
    },
  },
]
