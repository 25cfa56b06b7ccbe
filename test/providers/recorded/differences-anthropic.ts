import type { AcceptedDifference } from './difference.js'
import { asParts, dropMembers, objectsIn, schemaShape } from './difference.js'
import type { Raw } from './raw-json.js'

const messages = (body: Raw): Raw[] => (body.messages ?? []) as Raw[]
const blocks = (body: Raw): Raw[] => messages(body).flatMap((message) => message.content as Raw[])

/** Differences of requests to the Messages API. */
export const ANTHROPIC_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    what: 'stream: false',
    reason: 'The default, which some clients spell out.',
    apply: ({ recorded }) => {
      if (recorded.stream === false) delete recorded.stream
    },
  },
  {
    what: 'system as blocks',
    reason: 'One system text is sent as a string; many clients send a list of one block.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        if (typeof body.system === 'string') body.system = [{ type: 'text', text: body.system }]
      }
    },
  },
  {
    what: 'cache breakpoints outside of user content',
    reason: 'A system message and the parts of a reply carry no breakpoint of the caller; clients move one along.',
    apply({ recorded }) {
      for (const block of [...objectsIn(recorded.system), ...blocks(recorded).filter(notText)])
        delete block.cache_control
    },
  },
  {
    what: 'a breakpoint that the client took back',
    reason: 'A history of ours stays as it was; that client moved the breakpoint from the question to the result.',
    apply({ ours, name }) {
      if (name !== 'anthropic/tool-call-single-stream#0+1') return
      for (const block of blocks(ours)) delete block.cache_control
    },
  },
  {
    what: 'content as text',
    reason: 'We send content as a list of blocks; some clients send a single text as a string.',
    apply({ recorded }) {
      for (const message of messages(recorded)) asParts(message, 'text')
    },
  },
  {
    what: 'results as blocks',
    reason: 'A result is sent as a string; many clients send a list of one block.',
    apply({ recorded, ours }) {
      for (const block of [...blocks(recorded), ...blocks(ours)]) {
        if (block.type === 'tool_result' && Array.isArray(block.content)) block.content = block.content[0].text
      }
    },
  },
  {
    what: 'is_error: false',
    reason: 'The default, which some clients spell out.',
    apply({ recorded }) {
      for (const block of blocks(recorded)) if (block.is_error === false) delete block.is_error
    },
  },
  {
    what: 'members without a value',
    reason: 'A client echoes members that the answer had as null.',
    apply({ recorded }) {
      for (const block of blocks(recorded)) {
        if (block.citations === null) delete block.citations
        if (block.cache_control === null) delete block.cache_control
      }
    },
  },
  {
    what: 'parallel calls allowed',
    reason: 'The default of a tool choice, which a client spells out.',
    apply({ recorded }) {
      if (recorded.tool_choice?.disable_parallel_tool_use === false)
        delete recorded.tool_choice.disable_parallel_tool_use
    },
  },
  {
    what: 'tool schemas',
    reason:
      "We send the author's schema, not strict, without its draft and without an empty description; the names of all keys must agree.",
    apply({ recorded, ours }) {
      for (const tool of [...((recorded.tools ?? []) as Raw[]), ...((ours.tools ?? []) as Raw[])]) {
        if (tool.input_schema === undefined) continue
        tool.input_schema = schemaShape(tool.input_schema)
        if (tool.description === '') delete tool.description
        dropMembers(tool, 'cache_control', 'strict')
      }
    },
  },
  {
    what: 'answer schema',
    reason: 'We send the strict form; the names of all keys must agree.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        const format = body.output_config?.format as Raw | undefined
        if (format !== undefined) format.schema = schemaShape(format.schema)
      }
    },
  },
  {
    what: 'text behind a call',
    reason: 'The provider refused that request with 400: we put calls last, and join the turns of one side.',
    apply({ recorded, ours, name }) {
      if (name !== 'anthropic/error-400-tool-result-order#0') return
      for (const body of [recorded, ours]) {
        const all = blocks(body)
        body.messages = all.map((block) => JSON.stringify(block)).sort()
      }
    },
  },
]

function notText(block: Raw): boolean {
  return block.type === 'tool_result' || block.type === 'tool_use'
}
