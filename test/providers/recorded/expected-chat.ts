import type { RecordedResponse } from '@sluice/testkit'
import type { Raw } from './raw-json.js'
import { rawEvents } from './raw-json.js'
import type { ReplyFacts } from './reply-facts.js'
import { argsOf } from './reply-facts.js'

/** What a recorded answer of Chat Completions says. */
export function expectedFromChat(recorded: RecordedResponse): ReplyFacts {
  if (recorded.bodyText === undefined) {
    const body = recorded.body as Raw
    const [choice] = body.choices as Raw[]
    return facts(choice?.message ?? {}, finishOf(choice), body, body.usage)
  }
  const chunks = rawEvents(recorded.bodyText)
  const deltas = chunks.flatMap((chunk) => (chunk.choices as Raw[]).map((choice) => choice.delta as Raw))
  const joined = (member: string) => deltas.map((delta) => delta[member] ?? '').join('')
  const fragments = deltas.flatMap((delta) => (delta.tool_calls ?? []) as Raw[])
  const places = [...new Set(fragments.map((fragment) => fragment.index as number))]
  const details = deltas.flatMap((delta) => (delta.reasoning_details ?? []) as Raw[])
  const message = {
    content: joined('content'),
    refusal: joined('refusal'),
    reasoning_content: joined('reasoning_content') || joined('reasoning'),
    reasoning_details: details,
    tool_calls: places.map((place) => ofPlace(fragments.filter((fragment) => fragment.index === place))),
  }
  const finish = chunks.flatMap((chunk) => chunk.choices as Raw[]).findLast((choice) => choice.finish_reason)
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage
  return facts(message, finishOf(finish), chunks[0] as Raw, usage)
}

/** The model's own word stands above OpenRouter's where it says that the reply was cut off. */
function finishOf(choice: Raw | undefined): string {
  return choice?.native_finish_reason === 'length' ? 'length' : choice?.finish_reason
}

function ofPlace(fragments: readonly Raw[]): Raw {
  return {
    id: fragments.find((fragment) => fragment.id)?.id,
    function: {
      name: fragments.find((fragment) => fragment.function.name)?.function.name,
      arguments: fragments.map((fragment) => fragment.function.arguments).join(''),
    },
  }
}

function facts(message: Raw, finish: string, envelope: Raw, usage: Raw | undefined): ReplyFacts {
  const refusal = message.refusal ?? ''
  const thought = message.reasoning_content || message.reasoning
  return {
    text: message.content ?? '',
    refusal,
    reasoning: thought ? [thought] : [],
    opaque: ((message.reasoning_details ?? []) as Raw[])
      .map((detail) => detail.signature ?? detail.data)
      .filter((value) => typeof value === 'string'),
    calls: ((message.tool_calls ?? []) as Raw[]).map((call) => ({
      id: call.id,
      name: call.function.name,
      args: argsOf(call.function.arguments),
    })),
    hosted: [],
    finishReason: refusal !== '' && finish === 'stop' ? 'refusal' : finish,
    model: envelope.model,
    responseId: envelope.id,
    usage: usage === undefined ? undefined : figures(usage),
  }
}

function figures(usage: Raw): ReadonlyArray<number | null> {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? null
  return [
    usage.prompt_tokens - cached,
    cached,
    usage.prompt_tokens_details?.cache_write_tokens ?? null,
    // some servers count reasoning beside the completion: the total tells
    usage.total_tokens - usage.prompt_tokens,
    usage.completion_tokens_details?.reasoning_tokens ?? null,
  ]
}
