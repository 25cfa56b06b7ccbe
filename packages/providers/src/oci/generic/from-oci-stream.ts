import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import type { ToolCallIds } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, parseObject, wireList, wireName, wireObject, wireText } from '../../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../../shared/wire-protocol.js'
import { refuseError } from '../stream-error.js'
import { ociUsage } from '../oci-usage.js'
import type { Envelope } from './from-oci-response.js'
import { contentText, fromChoice, partsOf } from './from-oci-response.js'

/** A call whose fragments are still arriving. */
interface OpenCall {
  given: string | undefined
  id: string | undefined
  name: string
  args: string
}

/** Ids that were claimed when the call was first named. */
const AS_THEY_ARE: ToolCallIds = { claim: (id) => wireText(id) }

/** Puts the events of one stream together: each is a choice with what is new of its message. */
export function openOciGenericStream(reading: Reading): StreamReader {
  return new GenericStream(reading)
}

class GenericStream implements StreamReader {
  readonly #reading: Reading
  readonly #ids: ToolCallIds
  readonly #envelope: Envelope = {}
  readonly #calls: OpenCall[] = []
  #text = ''
  #thought = ''
  #refusal = ''
  #finish: string | undefined

  constructor(reading: Reading) {
    this.#reading = { ...reading, ids: AS_THEY_ARE }
    this.#ids = reading.ids
  }

  get ended(): boolean {
    return this.#finish !== undefined
  }

  read(event: unknown, out: StreamPart[]): void {
    if (!isWire(event)) return
    refuseError(event)
    if (event.modelId !== undefined) this.#envelope.model = event.modelId
    if (isWire(event.usage)) this.#envelope.usage = event.usage
    // the choice itself, or a list with one, as in a whole answer
    const choice = event.choices === undefined ? event : wireObject(wireList(event.choices)[0])
    if (isWire(choice.usage)) this.#envelope.usage = choice.usage
    if (isWire(choice.message)) this.#message(choice.message, out)
    this.#finish = wireName(choice.finishReason) ?? this.#finish
  }

  reply(): WireReply {
    return fromChoice(this.#envelope, { message: this.#whole(), finishReason: this.#finish }, this.#reading)
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#envelope.model)
    return {
      parts: partsOf(this.#whole(), this.#reading),
      usage: isWire(this.#envelope.usage) ? ociUsage(this.#envelope.usage).usage : null,
      ...(model === undefined ? {} : { model }),
    }
  }

  #message(message: Wire, out: StreamPart[]): void {
    const thought = wireText(message.reasoningContent)
    if (thought !== '') {
      this.#thought += thought
      out.push({ type: 'reasoning_delta', text: thought })
    }
    const text = contentText(message.content)
    if (text !== '') {
      this.#text += text
      out.push({ type: 'text_delta', text })
    }
    this.#refusal += wireText(message.refusal)
    for (const fragment of wireList(message.toolCalls)) if (isWire(fragment)) this.#fragment(fragment, out)
  }

  /** Fragments have no place: one belongs to the last call, unless it begins another. */
  #fragment(fragment: Wire, out: StreamPart[]): void {
    const last = this.#calls.at(-1)
    const call = last === undefined || beginsAnother(fragment, last) ? this.#open() : last
    const known = call.id
    const given = wireName(fragment.id)
    if (known === undefined && given !== undefined) {
      call.given = given
      call.id = this.#ids.claim(given)
    }
    const named = wireText(fragment.name)
    if (call.name === '') call.name = named
    const argsDelta = wireText(fragment.arguments)
    call.args += argsDelta
    out.push({
      type: 'tool_call_delta',
      index: this.#calls.length - 1,
      ...(known === undefined && call.id !== undefined ? { toolCallId: call.id } : {}),
      ...(named === '' ? {} : { toolName: named }),
      argsDelta,
    })
  }

  #open(): OpenCall {
    const call = { given: undefined, id: undefined, name: '', args: '' }
    this.#calls.push(call)
    return call
  }

  #whole(): Wire {
    return {
      reasoningContent: this.#thought,
      content: this.#text,
      refusal: this.#refusal,
      toolCalls: this.#calls.map((call) => {
        call.id ??= this.#ids.claim(undefined)
        return { id: call.id, name: call.name, arguments: call.args }
      }),
    }
  }
}

/**
 * Whether a fragment is a call of its own: it has another id; or the same one and a name again, or no id and a name, where
 * the arguments of the last call are whole.
 */
function beginsAnother(fragment: Wire, last: OpenCall): boolean {
  const given = wireName(fragment.id)
  if (given !== undefined && last.given !== undefined && given !== last.given) return true
  return wireName(fragment.name) !== undefined && last.name !== '' && parseObject(last.args) !== undefined
}
