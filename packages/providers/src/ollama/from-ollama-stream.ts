import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import { usableReply } from '../shared/reply-fault.js'
import type { ToolCallIds } from '../shared/tool-call-ids.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireCount, wireList, wireName, wireObject, wireText } from '../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../shared/wire-protocol.js'
import { fromMessage, ollamaUsage, partsOf } from './from-ollama-response.js'

/** Ids that were claimed when the call was first seen. */
const AS_THEY_ARE: ToolCallIds = { claim: (id) => wireText(id) }

/** Puts the lines of one streamed chat together: each is a message with what is new, calls come whole. */
export function openOllamaStream(reading: Reading): StreamReader {
  return new OllamaStream(reading)
}

class OllamaStream implements StreamReader {
  readonly #reading: Reading
  readonly #ids: ToolCallIds
  readonly #calls: Wire[] = []
  /** The line that ends the stream has the figures; the others at least the model. */
  #chat: Wire = {}
  #content = ''
  #thinking = ''
  #ended = false

  constructor(reading: Reading) {
    this.#reading = { ...reading, ids: AS_THEY_ARE }
    this.#ids = reading.ids
  }

  get ended(): boolean {
    return this.#ended
  }

  read(event: unknown, out: StreamPart[]): void {
    const chat = usableReply(event)
    if (this.#ended) return
    this.#chat = chat
    if (isWire(chat.message)) this.#message(chat.message, out)
    if (chat.done === true) this.#ended = true
  }

  reply(): WireReply {
    return fromMessage(this.#chat, this.#whole(), this.#reading)
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#chat.model)
    return {
      parts: partsOf(this.#whole(), this.#reading),
      usage: wireCount(this.#chat.eval_count) === null ? null : ollamaUsage(this.#chat).usage,
      ...(model === undefined ? {} : { model }),
    }
  }

  #message(message: Wire, out: StreamPart[]): void {
    const thinking = wireText(message.thinking)
    if (thinking !== '') {
      this.#thinking += thinking
      out.push({ type: 'reasoning_delta', text: thinking })
    }
    const text = wireText(message.content)
    if (text !== '') {
      this.#content += text
      out.push({ type: 'text_delta', text })
    }
    for (const call of wireList(message.tool_calls)) if (isWire(call)) this.#call(call, out)
  }

  #call(call: Wire, out: StreamPart[]): void {
    const { name, arguments: args } = wireObject(call.function)
    const id = this.#ids.claim(call.id)
    const argsDelta = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    out.push({
      type: 'tool_call_delta',
      index: this.#calls.length,
      toolCallId: id,
      toolName: wireText(name),
      argsDelta,
    })
    this.#calls.push({ id, function: { name, arguments: argsDelta } })
  }

  #whole(): Wire {
    return { thinking: this.#thinking, content: this.#content, tool_calls: this.#calls }
  }
}
