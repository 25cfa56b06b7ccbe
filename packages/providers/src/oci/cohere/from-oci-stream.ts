import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import type { ToolCallIds } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList, wireName, wireText } from '../../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../../shared/wire-protocol.js'
import { refuseError } from '../stream-error.js'
import { ociUsage } from '../oci-usage.js'
import { fromChat, partsOf, refuseFailure } from './from-oci-response.js'

/** Ids that were claimed when the call was first seen. */
const AS_THEY_ARE: ToolCallIds = { claim: (id) => wireText(id) }

/**
 * Puts the events of one stream together. Text comes in pieces; an event with calls, and the one that ends the stream, may
 * say all over again what has come.
 */
export function openOciCohereStream(reading: Reading): StreamReader {
  return new CohereStream(reading)
}

class CohereStream implements StreamReader {
  readonly #reading: Reading
  readonly #ids: ToolCallIds
  readonly #calls: Wire[] = []
  /** What is not put together: citations, usage, the reason of the end. */
  #chat: Wire = {}
  #model: unknown
  #text = ''
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
    refuseError(event)
    refuseFailure(event)
    const { text, toolCalls, chatHistory: _history, ...rest } = event
    if (event.modelId !== undefined) this.#model = event.modelId
    // once a reply has ended, only figures may follow
    if (this.#ended) {
      if (isWire(event.usage)) this.#chat.usage = event.usage
      return
    }
    this.#chat = { ...this.#chat, ...rest }
    const closing = wireName(event.finishReason) !== undefined
    this.#addText(wireText(text), closing || wireList(toolCalls).length > 0, out)
    this.#addCalls(wireList(toolCalls).filter(isWire), closing, out)
    if (closing) this.#ended = true
  }

  reply(): WireReply {
    return fromChat(this.#whole(), this.#model, this.#reading)
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#model)
    return {
      parts: partsOf(this.#whole(), this.#reading),
      usage: isWire(this.#chat.usage) ? ociUsage(this.#chat.usage).usage : null,
      ...(model === undefined ? {} : { model }),
    }
  }

  #addText(text: string, mayRepeat: boolean, out: StreamPart[]): void {
    const isWhole = mayRepeat && text.startsWith(this.#text)
    // what is neither new nor all of it is left: the pieces that came are what the model said
    if (mayRepeat && !isWhole) return
    const fresh = isWhole ? text.slice(this.#text.length) : text
    if (fresh === '') return
    this.#text += fresh
    out.push({ type: 'text_delta', text: fresh })
  }

  #addCalls(calls: readonly Wire[], closing: boolean, out: StreamPart[]): void {
    for (const { id, name, parameters } of closing ? calls.slice(this.#calls.length) : calls) {
      const claimed = this.#ids.claim(id)
      out.push({
        type: 'tool_call_delta',
        index: this.#calls.length,
        toolCallId: claimed,
        toolName: wireText(name),
        argsDelta: JSON.stringify(parameters ?? {}),
      })
      this.#calls.push({ id: claimed, name, parameters })
    }
  }

  #whole(): Wire {
    return { ...this.#chat, text: this.#text, toolCalls: this.#calls }
  }
}
