import type { RecordedResponse } from '@sluice/testkit'
import type { Raw } from './raw-json.js'
import { rawEvents } from './raw-json.js'
import type { ReplyFacts } from './reply-facts.js'
import { argsOf } from './reply-facts.js'

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
}

/** What a recorded answer of the Messages API says. */
export function expectedFromAnthropic(recorded: RecordedResponse): ReplyFacts {
  if (recorded.bodyText === undefined) return facts(recorded.body as Raw)
  const events = rawEvents(recorded.bodyText)
  const of = (type: string) => events.filter((event) => event.type === type)
  const start = of('message_start')[0]?.message as Raw
  const end = of('message_delta').at(-1) as Raw
  const content = of('content_block_start').map(({ index, content_block }) => {
    const deltas = of('content_block_delta')
      .filter((event) => event.index === index)
      .map((event) => event.delta as Raw)
    const joined = (member: string) => deltas.map((delta) => delta[member] ?? '').join('')
    const json = joined('partial_json')
    return {
      ...content_block,
      ...(content_block.type === 'text' ? { text: content_block.text + joined('text') } : {}),
      ...(content_block.type === 'thinking' ? { thinking: joined('thinking'), signature: joined('signature') } : {}),
      ...(content_block.type === 'tool_use' ? { input: json === '' ? {} : JSON.parse(json) } : {}),
    }
  })
  return facts({ ...start, ...end.delta, content, usage: { ...start.usage, ...end.usage } })
}

function facts(message: Raw): ReplyFacts {
  const blocks = message.content as Raw[]
  const of = (type: string) => blocks.filter((block) => block.type === type)
  const usage = message.usage as Raw
  return {
    text: of('text')
      .map((block) => block.text)
      .join(''),
    refusal: message.stop_details?.explanation ?? '',
    reasoning: of('thinking').map((block) => block.thinking),
    opaque: blocks
      .filter((block) => block.type === 'thinking' || block.type === 'redacted_thinking')
      .map((block) => block.signature ?? block.data),
    calls: of('tool_use').map((block) => ({
      id: block.id,
      name: block.name,
      args: argsOf(JSON.stringify(block.input)),
    })),
    hosted: blocks
      .map((block) => block.type)
      .filter((type) => !['text', 'thinking', 'redacted_thinking', 'tool_use'].includes(type)),
    finishReason: FINISH[message.stop_reason] ?? message.stop_reason,
    model: message.model,
    responseId: message.id,
    usage: [
      usage.input_tokens,
      usage.cache_read_input_tokens,
      usage.cache_creation_input_tokens,
      usage.output_tokens,
      usage.output_tokens_details?.thinking_tokens ?? null,
    ],
  }
}
