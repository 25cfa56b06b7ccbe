import fc from 'fast-check'
import type { AssistantPart, Message, ToolCallPart, ToolMessage, ToolResultPart } from '../../messages/message.js'

const text = fc.string({ maxLength: 12 })
const providerOptions = fc.dictionary(
  fc.constantFrom('openai', 'anthropic'),
  fc.dictionary(
    fc.constantFrom('id', 'signature', 'type', 'message', 'withheld', 'empty'),
    fc.oneof(text, fc.boolean()),
  ),
)
const labels = fc.array(
  fc.record({ kind: fc.constantFrom('tool', 'mcp', 'memory' as const), source: text }) as fc.Arbitrary<{
    kind: 'tool'
    source: string
  }>,
  { maxLength: 2 },
)

function withOptional<Base extends object>(
  base: fc.Arbitrary<Base>,
  more: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<Base> {
  return fc.tuple(base, fc.record(more, { requiredKeys: [] })).map(([left, right]) => ({ ...left, ...right }) as Base)
}

const textPart = withOptional(fc.record({ type: fc.constant('text' as const), text }), { providerOptions, labels })
const filePart = withOptional(
  fc.record({
    type: fc.constant('file' as const),
    mediaType: fc.constantFrom('image/png', 'application/pdf'),
    data: fc.base64String({ maxLength: 12 }),
  }),
  { filename: text, providerOptions, labels },
)
const callPart = withOptional(
  fc.record({
    type: fc.constant('tool_call' as const),
    toolCallId: fc.constantFrom('a', 'b', 'c', 'd'),
    toolName: fc.constantFrom('get', 'put'),
    args: fc.oneof(fc.constant('{}'), text),
  }),
  { providerOptions },
) as fc.Arbitrary<ToolCallPart>
const resultPart = withOptional(
  fc.record({
    type: fc.constant('tool_result' as const),
    toolCallId: fc.constantFrom('a', 'b', 'c', 'd', 'nobody'),
    toolName: fc.constantFrom('get', 'put'),
    result: text,
    status: fc.constantFrom(
      'ok',
      'error',
      'refused',
      'vetoed',
      'skipped_limit',
      'invalid',
      'not_run',
      'unknown' as const,
    ),
  }) as fc.Arbitrary<ToolResultPart>,
  { errorReference: fc.constant('ERR-1'), providerOptions, labels },
)
const assistantPart = fc.oneof(
  textPart,
  filePart,
  callPart,
  withOptional(fc.record({ type: fc.constant('reasoning' as const), text }), { providerOptions }),
  withOptional(fc.record({ type: fc.constant('refusal' as const), text }), { providerOptions }),
  withOptional(fc.record({ type: fc.constant('hosted' as const), toolName: text, text }), { providerOptions }),
) as fc.Arbitrary<AssistantPart>

const message = fc.oneof(
  { weight: 1, arbitrary: fc.record({ role: fc.constant('system' as const), content: text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      role: fc.constant('user' as const),
      content: fc.array(fc.oneof(textPart, filePart), { maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: withOptional(
      fc.record({ role: fc.constant('assistant' as const), content: fc.array(assistantPart, { maxLength: 4 }) }),
      { provider: text, model: text, labels },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ role: fc.constant('tool' as const), content: fc.array(resultPart, { maxLength: 4 }) }),
  },
) as unknown as fc.Arbitrary<Message>

/** Any list of messages, mostly not valid for a provider: results without calls, calls without results, repeated ids. */
export function anyMessages(): fc.Arbitrary<Message[]> {
  return fc.array(message, { maxLength: 10 })
}

/** A valid history: an optional system message, then turns of a user message, rounds, and mostly a final answer. */
export function validHistory(): fc.Arbitrary<Message[]> {
  const round = fc
    .tuple(fc.array(callPart, { minLength: 1, maxLength: 3 }), fc.boolean(), text)
    .map(([calls, withText, said]): Message[] => [
      { role: 'assistant', content: [...(withText ? [{ type: 'text' as const, text: said }] : []), ...calls] },
      answer(calls),
    ])
  const turn = fc
    .tuple(text, fc.array(round, { maxLength: 4 }), fc.option(text))
    .map(([asked, rounds, said]): Message[] => [
      { role: 'user', content: [{ type: 'text', text: asked }] },
      ...rounds.flat(),
      ...(said === null ? [] : [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: said }] }]),
    ])
  return fc
    .tuple(fc.boolean(), fc.array(turn, { maxLength: 6 }))
    .map(([system, turns]) => [...(system ? [{ role: 'system' as const, content: 'S' }] : []), ...turns.flat()])
}

function answer(calls: readonly ToolCallPart[]): ToolMessage {
  return {
    role: 'tool',
    content: calls.map((call) => ({
      type: 'tool_result',
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      result: `r:${call.args}`,
      status: 'ok',
    })),
  }
}

/** What every protocol demands of calls and results; the faults found, none for a valid history. */
export function historyFaults(messages: readonly Message[]): string[] {
  const faults: string[] = []
  messages.forEach((entry, index) => {
    if (entry.role === 'tool') {
      const before = messages[index - 1]
      if (before?.role !== 'assistant') faults.push(`tool message ${index} behind no assistant message`)
    }
    if (entry.role !== 'assistant') return
    const asked = entry.content.filter((part) => part.type === 'tool_call').map((part) => part.toolCallId)
    const next = messages[index + 1]
    const got = next?.role === 'tool' ? next.content.map((part) => part.toolCallId) : []
    if (JSON.stringify(asked) !== JSON.stringify(got)) faults.push(`message ${index} asks ${asked} and gets ${got}`)
  })
  return faults
}
