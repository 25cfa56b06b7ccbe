import type { AcceptedDifference } from './difference.js'
import { asParts, dropMembers, schemaShape } from './difference.js'
import { OPENAI_DIFFERENCES } from './differences-openai.js'
import type { Raw } from './raw-json.js'

const items = (body: Raw): Raw[] => (Array.isArray(body.input) ? (body.input as Raw[]) : [])

/** Differences of requests to the Responses API. */
export const RESPONSES_DIFFERENCES: readonly AcceptedDifference[] = [
  ...OPENAI_DIFFERENCES,
  {
    what: 'instructions',
    reason: 'The first system message goes as `instructions`; some clients send it as the first input item.',
    apply({ recorded }) {
      const first = items(recorded)[0]
      if (recorded.instructions !== undefined || !['system', 'developer'].includes(first?.role)) return
      asParts(first as Raw, 'input_text')
      recorded.instructions = (first as Raw).content[0].text
      items(recorded).shift()
    },
  },
  {
    what: 'content as text',
    reason: 'We send content as a list of parts; some clients send a single text as a string.',
    apply({ recorded }) {
      for (const item of items(recorded)) asParts(item, item.role === 'assistant' ? 'output_text' : 'input_text')
    },
  },
  {
    what: 'type: message',
    reason: 'A message that has a role needs no type; some clients write it.',
    apply({ recorded, ours }) {
      for (const item of [...items(recorded), ...items(ours)]) if (item.role !== undefined) delete item.type
    },
  },
  {
    what: 'status of items',
    reason: 'The provider sets it; on input it says nothing, and clients differ in sending it back.',
    apply({ recorded, ours }) {
      for (const item of [...items(recorded), ...items(ours)]) delete item.status
    },
  },
  {
    what: 'ids of calls that the client left out',
    reason: 'We send the ids of items back; some clients keep only the call id, which pairs call and result.',
    apply({ recorded, ours }) {
      const without = new Set(
        items(recorded)
          .filter((item) => item.type === 'function_call' && item.id === undefined)
          .map((item) => item.call_id),
      )
      for (const item of items(ours)) if (item.type === 'function_call' && without.has(item.call_id)) delete item.id
    },
  },
  {
    what: 'empty assistant messages',
    reason: 'A client sent an empty message before each call; nothing was said.',
    apply({ recorded }) {
      if (!Array.isArray(recorded.input)) return
      recorded.input = items(recorded).filter(
        (item) => item.role !== 'assistant' || (item.content as Raw[]).some((piece) => piece.text !== ''),
      )
    },
  },
  {
    what: 'include',
    reason:
      'Encrypted reasoning is asked for where reasoning is, or where the history shows that the model reasons (others refuse); one client always asked, others never.',
    apply({ recorded, ours }) {
      if (recorded.reasoning !== undefined) return
      dropMembers(recorded, 'include')
      dropMembers(ours, 'include')
    },
  },
  {
    what: 'output cap',
    reason: 'Every request of ours has an explicit cap.',
    apply({ recorded, ours }) {
      if (recorded.max_output_tokens === undefined && typeof ours.max_output_tokens === 'number')
        delete ours.max_output_tokens
    },
  },
  {
    what: 'previous_response_id',
    reason: 'The chain at the provider is off: we send the whole history, which must end with what the client sent.',
    apply({ recorded, ours }) {
      if (recorded.previous_response_id === undefined) return
      const chained = recorded.previous_response_id !== null
      delete recorded.previous_response_id
      if (chained) ours.input = items(ours).slice(-items(recorded).length)
    },
  },
  {
    what: 'answer schema',
    reason: 'We send the strict form; the names of all keys must agree, and it must be strict on both sides.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        const format = body.text?.format as Raw | undefined
        if (format !== undefined) format.schema = schemaShape(format.schema)
      }
    },
  },
  {
    what: 'reasoning that the provider refused',
    reason: 'The client changed what followed a reasoning item, and got a 400: we leave such an item out.',
    apply({ recorded, name }) {
      if (name !== 'openai-responses/reasoning-modified-history-error#1') return
      recorded.input = items(recorded).filter((item) => item.type !== 'reasoning')
    },
  },
]
