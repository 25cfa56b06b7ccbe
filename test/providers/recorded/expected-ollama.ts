import type { RecordedResponse } from '@sluice/testkit'
import type { Raw } from './raw-json.js'
import type { ReplyFacts } from './reply-facts.js'
import { argsOf } from './reply-facts.js'

/** What a recorded answer of Ollama's own chat says: a stream is one JSON object a line. */
export function expectedFromOllama(recorded: RecordedResponse): ReplyFacts {
  if (recorded.bodyText === undefined) {
    const body = recorded.body as Raw
    return facts(body.message, body)
  }
  const lines = recorded.bodyText
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Raw)
  const joined = (member: string) => lines.map((line) => line.message[member] ?? '').join('')
  const message = {
    content: joined('content'),
    thinking: joined('thinking'),
    tool_calls: lines.flatMap((line) => line.message.tool_calls ?? []),
  }
  return facts(message, lines.at(-1) as Raw)
}

function facts(message: Raw, closing: Raw): ReplyFacts {
  const calls = (message.tool_calls ?? []) as Raw[]
  const stop = closing.done_reason === 'stop' && calls.length > 0 ? 'tool_calls' : closing.done_reason
  return {
    text: message.content,
    refusal: '',
    reasoning: message.thinking ? [message.thinking] : [],
    opaque: [],
    calls: calls.map((call, index) => ({
      id: call.id ?? `tool_call_${index + 1}`,
      name: call.function.name,
      args: argsOf(JSON.stringify(call.function.arguments)),
    })),
    hosted: [],
    finishReason: stop,
    model: closing.model,
    responseId: undefined,
    usage: [closing.prompt_eval_count, null, null, closing.eval_count, null],
  }
}
