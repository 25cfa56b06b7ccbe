import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import { errorInReply } from '../shared/reply-fault.js'
import type { ToolCallIds } from '../shared/tool-call-ids.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject, wireText } from '../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../shared/wire-protocol.js'
import { anthropicUsage, fromBlocks, partsOf } from './from-anthropic-response.js'

/** More blocks than any reply has: a place beyond it is no place. */
const MOST_PLACES = 10_000

/** Ids that were claimed when the call was first seen. */
const AS_THEY_ARE: ToolCallIds = { claim: (id) => wireText(id) }

/** Puts the events of one Messages stream together. Events and deltas of unknown types are passed over. */
export function openAnthropicStream(reading: Reading): StreamReader {
  return new MessagesStream(reading)
}

class MessagesStream implements StreamReader {
  readonly #reading: Reading
  readonly #ids: ToolCallIds
  readonly #blocks: Wire[] = []
  /** The running number of each tool call, by the place of its block. */
  readonly #calls = new Map<number, number>()
  #message: Wire = {}
  #counted = false
  #ended = false

  constructor(reading: Reading) {
    this.#reading = { ...reading, ids: AS_THEY_ARE }
    this.#ids = reading.ids
  }

  get ended(): boolean {
    return this.#ended
  }

  read(event: unknown, out: StreamPart[]): void {
    if (!isWire(event)) return
    switch (event.type) {
      case 'content_block_delta':
        this.#delta(event, out)
        return
      case 'content_block_start':
        this.#start(event, out)
        return
      case 'message_start':
        this.#message = { ...wireObject(event.message) }
        return
      case 'message_delta':
        this.#messageDelta(event)
        return
      case 'message_stop':
        this.#ended = true
        return
      case 'error':
        throw errorInReply(event.error)
    }
  }

  reply(): WireReply {
    return fromBlocks(this.#message, this.#whole(), this.#reading)
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#message.model)
    const { usage } = anthropicUsage(this.#message.usage)
    const reported = isWire(this.#message.usage)
    return {
      parts: partsOf(this.#whole(), this.#reading),
      // the count of output that opens a stream is a placeholder
      usage: reported ? (this.#counted ? usage : { ...usage, outputTokens: null }) : null,
      ...(model === undefined ? {} : { model }),
    }
  }

  #messageDelta(event: Wire): void {
    const { stop_reason, stop_sequence, stop_details } = wireObject(event.delta)
    if (stop_reason !== undefined) this.#message.stop_reason = stop_reason
    if (stop_sequence !== undefined) this.#message.stop_sequence = stop_sequence
    if (stop_details !== undefined) this.#message.stop_details = stop_details
    if (!isWire(event.usage)) return
    // figures are cumulative; one that is not repeated stands
    const usage = Object.fromEntries(Object.entries(event.usage).filter(([, figure]) => figure !== null))
    this.#message.usage = { ...wireObject(this.#message.usage), ...usage }
    this.#counted = true
  }

  #start(event: Wire, out: StreamPart[]): void {
    const place = placeOf(event)
    if (place === undefined || !isWire(event.content_block)) return
    const block = event.content_block
    this.#blocks[place] = block
    if (block.type === 'text') {
      const text = wireText(block.text)
      if (text !== '') out.push({ type: 'text_delta', text })
    } else if (block.type === 'tool_use') {
      const index = this.#calls.size
      this.#calls.set(place, index)
      block.id = this.#ids.claim(block.id)
      out.push({
        type: 'tool_call_delta',
        index,
        toolCallId: wireText(block.id),
        toolName: wireText(block.name),
        argsDelta: '',
      })
    }
  }

  #delta(event: Wire, out: StreamPart[]): void {
    const place = placeOf(event)
    const delta = event.delta
    if (place === undefined || !isWire(delta)) return
    const block = (this.#blocks[place] ??= {})
    switch (delta.type) {
      case 'text_delta':
        this.#add(block, 'text', delta.text)
        out.push({ type: 'text_delta', text: wireText(delta.text) })
        return
      case 'thinking_delta':
        this.#add(block, 'thinking', delta.thinking)
        out.push({ type: 'reasoning_delta', text: wireText(delta.thinking) })
        return
      case 'signature_delta':
        this.#add(block, 'signature', delta.signature)
        return
      case 'citations_delta':
        block.citations = [...wireList(block.citations), delta.citation]
        return
      case 'input_json_delta':
        this.#input(block, place, wireText(delta.partial_json), out)
    }
  }

  #add(block: Wire, member: string, text: unknown): void {
    block[member] = wireText(block[member]) + wireText(text)
  }

  #input(block: Wire, place: number, argsDelta: string, out: StreamPart[]): void {
    // the start of a block holds an empty object in place of what is about to come
    block.input = (typeof block.input === 'string' ? block.input : '') + argsDelta
    const index = this.#calls.get(place)
    if (index !== undefined && argsDelta !== '') out.push({ type: 'tool_call_delta', index, argsDelta })
  }

  /** The blocks so far. A call whose only argument text is empty has an empty object; hosted tools get theirs parsed. */
  #whole(): readonly Wire[] {
    return this.#blocks.map((block) => {
      if (typeof block.input !== 'string') return block
      if (block.type === 'tool_use') return block.input === '' ? { ...block, input: {} } : block
      return { ...block, input: parsedInput(block.input) }
    })
  }
}

function parsedInput(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return {}
  }
}

function placeOf(event: Wire): number | undefined {
  const place = event.index
  return typeof place === 'number' && Number.isInteger(place) && place >= 0 && place < MOST_PLACES ? place : undefined
}
