import type { RecordedResponse } from '@sluice/testkit'
import type { Raw } from './raw-json.js'
import { rawEvents } from './raw-json.js'
import type { ReplyFacts } from './reply-facts.js'
import { argsOf } from './reply-facts.js'

/** What a recorded answer of the Responses API says: a stream is read from its deltas, not from its closing event. */
export function expectedFromResponses(recorded: RecordedResponse): ReplyFacts {
  return recorded.bodyText === undefined ? fromWhole(recorded.body as Raw) : fromDeltas(rawEvents(recorded.bodyText))
}

function fromWhole(body: Raw): ReplyFacts {
  const items = body.output as Raw[]
  const contents = items.filter((item) => item.type === 'message').flatMap((item) => item.content as Raw[])
  const calls = items.filter((item) => item.type === 'function_call')
  const thoughts = items.filter((item) => item.type === 'reasoning')
  const text = contents.map((content) => content.text ?? '').join('')
  const refusal = contents.map((content) => content.refusal ?? '').join('')
  return {
    text,
    refusal,
    reasoning: thoughts
      .map((item) => (item.summary.length > 0 ? item.summary : (item.content ?? [])))
      .map((pieces: Raw[]) => pieces.map((piece) => piece.text).join('\n\n'))
      .filter((thought) => thought !== ''),
    opaque: thoughts.map((item) => item.encrypted_content).filter((content) => typeof content === 'string'),
    calls: calls.map((item) => ({ id: item.call_id, name: item.name, args: argsOf(item.arguments) })),
    hosted: items.map((item) => item.type).filter((type) => !['message', 'reasoning', 'function_call'].includes(type)),
    ...closing(body, calls.length > 0, refusal !== ''),
  }
}

function fromDeltas(events: readonly Raw[]): ReplyFacts {
  const of = (type: string) => events.filter((event) => event.type === type)
  const joined = (type: string) =>
    of(type)
      .map((event) => event.delta)
      .join('')
  const added = of('response.output_item.added').map((event) => event.item as Raw)
  const done = of('response.output_item.done').map((event) => event.item as Raw)
  const calls = added.filter((item) => item.type === 'function_call')
  const argumentsOf = (id: string) =>
    of('response.function_call_arguments.delta')
      .filter((event) => event.item_id === id)
      .map((event) => event.delta)
      .join('')
  const reasoning = joined('response.reasoning_summary_text.delta')
  const refusal = joined('response.refusal.delta')
  const last = events.findLast((event) => event.response !== undefined)?.response as Raw
  return {
    text: joined('response.output_text.delta'),
    refusal,
    reasoning: reasoning === '' ? [] : [reasoning],
    opaque: done.map((item) => item.encrypted_content).filter((content) => typeof content === 'string'),
    calls: calls.map((item) => ({ id: item.call_id, name: item.name, args: argsOf(argumentsOf(item.id)) })),
    hosted: [],
    ...closing(last, calls.length > 0, refusal !== ''),
  }
}

function closing(response: Raw, called: boolean, refused: boolean) {
  const cutOff = response.incomplete_details?.reason as string | undefined
  const usage = response.usage as Raw | null
  const cached = usage?.input_tokens_details?.cached_tokens ?? null
  const written = usage?.input_tokens_details?.cache_write_tokens ?? null
  return {
    finishReason:
      cutOff === 'max_output_tokens' ? 'length' : (cutOff ?? (called ? 'tool_calls' : refused ? 'refusal' : 'stop')),
    model: response.model as string,
    responseId: response.id as string,
    usage:
      usage === null
        ? undefined
        : [
            usage.input_tokens - cached - written,
            cached,
            written,
            usage.output_tokens,
            usage.output_tokens_details?.reasoning_tokens ?? null,
          ],
  }
}
