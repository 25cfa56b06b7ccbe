import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import { errorInReply } from '../../shared/reply-fault.js'
import type { ToolCallIds } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList, wireName, wireText } from '../../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../../shared/wire-protocol.js'
import { fromItems, partsOf } from './from-openai-response.js'
import { openaiUsage } from './openai-usage.js'

/** More output items than any reply has: a place beyond it is no place. */
const MOST_PLACES = 10_000

/** A function call whose arguments are still arriving. */
interface OpenCall {
  readonly index: number
  readonly id: string
}

/** Ids that were claimed when the call was first seen. */
const AS_THEY_ARE: ToolCallIds = { claim: (id) => wireText(id) }

/** Puts the events of one Responses stream together. Events of unknown types are passed over. */
export function openOpenAIStream(reading: Reading): StreamReader {
  return new ResponsesStream(reading)
}

class ResponsesStream implements StreamReader {
  readonly #reading: Reading
  /** Output items by their place; an item is replaced by its whole form when it is done. */
  readonly #items: Wire[] = []
  readonly #calls = new Map<number, OpenCall>()
  #response: Wire = {}
  #done = 0
  #ended = false

  constructor(reading: Reading) {
    this.#reading = reading
  }

  get ended(): boolean {
    return this.#ended
  }

  read(event: unknown, out: StreamPart[]): void {
    if (!isWire(event)) return
    switch (event.type) {
      case 'response.output_text.delta':
        this.#append(event, 'message', 'content', event.content_index, 'output_text', 'text')
        out.push({ type: 'text_delta', text: wireText(event.delta) })
        return
      case 'response.refusal.delta':
        this.#append(event, 'message', 'content', event.content_index, 'refusal', 'refusal')
        return
      case 'response.reasoning_summary_part.added':
        // parts of a summary are paragraphs
        if (Number(event.summary_index) > 0) out.push({ type: 'reasoning_delta', text: '\n\n' })
        return
      case 'response.reasoning_summary_text.delta':
        this.#append(event, 'reasoning', 'summary', event.summary_index, 'summary_text', 'text')
        out.push({ type: 'reasoning_delta', text: wireText(event.delta) })
        return
      case 'response.reasoning_text.delta':
        this.#append(event, 'reasoning', 'content', event.content_index, 'reasoning_text', 'text')
        out.push({ type: 'reasoning_delta', text: wireText(event.delta) })
        return
      case 'response.function_call_arguments.delta':
        this.#arguments(event, out)
        return
      case 'response.output_item.added':
      case 'response.output_item.done':
        this.#item(event, out)
        return
      default:
        this.#state(event)
    }
  }

  reply(): WireReply {
    const whole = wireList(this.#response.output)
    // the items as they were delivered; the closing list stands in for a server that delivers none
    const items =
      this.#done >= whole.length && this.#done === this.#items.length
        ? this.#items
        : whole.map((item, place) => this.#withId(item, place))
    return fromItems(this.#response, items, { ...this.#reading, ids: AS_THEY_ARE })
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#response.model)
    return {
      parts: partsOf(this.#items, { ...this.#reading, ids: AS_THEY_ARE }),
      usage: isWire(this.#response.usage) ? openaiUsage(this.#response.usage).usage : null,
      ...(model === undefined ? {} : { model }),
    }
  }

  #state(event: Wire): void {
    if (event.type === 'error') throw errorInReply(event.error ?? event)
    if (!isWire(event.response)) return
    this.#response = event.response
    if (event.type === 'response.failed') {
      throw errorInReply(event.response.error ?? { message: 'the response failed without a reason' })
    }
    if (event.type === 'response.completed' || event.type === 'response.incomplete') this.#ended = true
  }

  #item(event: Wire, out: StreamPart[]): void {
    const place = placeOf(event)
    if (place === undefined || !isWire(event.item)) return
    const item = event.item
    this.#items[place] = item
    if (event.type === 'response.output_item.done') this.#done += 1
    if (item.type !== 'function_call') return
    const known = this.#calls.get(place)
    const call = known ?? this.#open(place, item.call_id)
    item.call_id = call.id
    if (known !== undefined) return
    const argsDelta = wireText(item.arguments)
    out.push({
      type: 'tool_call_delta',
      index: call.index,
      toolCallId: call.id,
      toolName: wireText(item.name),
      argsDelta,
    })
  }

  #open(place: number, callId: unknown): OpenCall {
    const call = { index: this.#calls.size, id: this.#reading.ids.claim(callId) }
    this.#calls.set(place, call)
    return call
  }

  #arguments(event: Wire, out: StreamPart[]): void {
    const place = placeOf(event)
    if (place === undefined) return
    const item = (this.#items[place] ??= { type: 'function_call' })
    const call = this.#calls.get(place) ?? this.#open(place, item.call_id)
    const argsDelta = wireText(event.delta)
    item.call_id = call.id
    item.arguments = wireText(item.arguments) + argsDelta
    out.push({ type: 'tool_call_delta', index: call.index, argsDelta })
  }

  /** Keeps what a delta adds, in case the stream breaks: to the piece `index` of the list `list` of its item. */
  #append(event: Wire, type: string, list: string, index: unknown, piece: string, member: string): void {
    const place = placeOf(event)
    const at = typeof index === 'number' && index >= 0 && index < MOST_PLACES ? index : 0
    if (place === undefined) return
    const item = (this.#items[place] ??= { type })
    const pieces = (Array.isArray(item[list]) ? item[list] : (item[list] = [])) as unknown[]
    const target = (isWire(pieces[at]) ? pieces[at] : (pieces[at] = { type: piece })) as Wire
    target[member] = wireText(target[member]) + wireText(event.delta)
  }

  #withId(item: unknown, place: number): unknown {
    if (!isWire(item) || item.type !== 'function_call') return item
    return { ...item, call_id: this.#calls.get(place)?.id ?? this.#reading.ids.claim(item.call_id) }
  }
}

function placeOf(event: Wire): number | undefined {
  const place = event.output_index
  return typeof place === 'number' && Number.isInteger(place) && place >= 0 && place < MOST_PLACES ? place : undefined
}
