import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import { errorInReply } from '../../shared/reply-fault.js'
import type { ToolCallIds } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, parseObject, wireList, wireName, wireObject, wireText } from '../../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../../shared/wire-protocol.js'
import { contentText, fromChoice, partsOf, REASONING_MEMBERS } from './from-openai-response.js'
import { openaiUsage } from './openai-usage.js'
import { addReasoningDetail } from './reasoning-details.js'

/** A tool call whose fragments are still arriving. */
interface OpenCall {
  readonly index: number
  /** The place that the server gave it, if any. */
  readonly place: unknown
  /** The server's id, and the one under which the conversation knows the call. */
  given: string | undefined
  id: string | undefined
  name: string
  args: string
}

/** Ids that were claimed when the call was first named. */
const AS_THEY_ARE: ToolCallIds = { claim: (id) => wireText(id) }

/** Puts the chunks of one Chat stream together. Members of unknown names are passed over. */
export function openOpenAIStream(reading: Reading): StreamReader {
  return new ChatStream(reading)
}

class ChatStream implements StreamReader {
  readonly #reading: Reading
  readonly #completion: Wire = {}
  readonly #message: Record<string, string> = {}
  readonly #details: Wire[] = []
  readonly #calls: OpenCall[] = []
  #finish: string | undefined
  #native: string | undefined

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** The SDK takes the closing `[DONE]` away; a reply is whole when its choice says why it finished. */
  get ended(): boolean {
    return this.#finish !== undefined
  }

  read(event: unknown, out: StreamPart[]): void {
    if (!isWire(event)) return
    if (event.error !== undefined && event.error !== null) throw errorInReply(event.error)
    if (event.model !== undefined) this.#completion.model = event.model
    if (event.id !== undefined) this.#completion.id = event.id
    if (isWire(event.usage)) this.#completion.usage = event.usage
    const choice = wireList(event.choices)[0]
    if (!isWire(choice)) return
    if (isWire(choice.error)) throw errorInReply(choice.error)
    if (isWire(choice.delta)) this.#delta(choice.delta, out)
    this.#finish = wireName(choice.finish_reason) ?? this.#finish
    this.#native = wireName(choice.native_finish_reason) ?? this.#native
  }

  reply(): WireReply {
    const choice = { message: this.#whole(), finish_reason: this.#finish, native_finish_reason: this.#native }
    return fromChoice(this.#completion, choice, { ...this.#reading, ids: AS_THEY_ARE })
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#completion.model)
    return {
      parts: partsOf(this.#whole(), { ...this.#reading, ids: AS_THEY_ARE }),
      usage: isWire(this.#completion.usage) ? openaiUsage(this.#completion.usage).usage : null,
      ...(model === undefined ? {} : { model }),
    }
  }

  #delta(delta: Wire, out: StreamPart[]): void {
    const content = contentText(delta.content)
    if (content !== '') {
      this.#add('content', content)
      out.push({ type: 'text_delta', text: content })
    }
    for (const member of REASONING_MEMBERS) {
      const text = wireText(delta[member])
      if (text === '') continue
      this.#add(member, text)
      out.push({ type: 'reasoning_delta', text })
      break
    }
    for (const piece of wireList(delta.reasoning_details)) addReasoningDetail(this.#details, piece)
    if (typeof delta.refusal === 'string') this.#add('refusal', delta.refusal)
    for (const fragment of wireList(delta.tool_calls)) if (isWire(fragment)) this.#fragment(fragment, out)
  }

  #add(member: string, text: string): void {
    this.#message[member] = (this.#message[member] ?? '') + text
  }

  #fragment(fragment: Wire, out: StreamPart[]): void {
    const { name, arguments: args } = wireObject(fragment.function)
    const call = this.#callOf(fragment, wireName(name)) ?? this.#open(fragment)
    const known = call.id
    const given = wireName(fragment.id)
    if (call.id === undefined && given !== undefined) {
      call.given = given
      call.id = this.#reading.ids.claim(given)
    }
    const named = wireText(name)
    // a name comes whole; some servers repeat it with every fragment
    if (call.name === '') call.name = named
    const argsDelta = isWire(args) ? JSON.stringify(args) : wireText(args)
    call.args += argsDelta
    out.push({
      type: 'tool_call_delta',
      index: call.index,
      ...(known === undefined && call.id !== undefined ? { toolCallId: call.id } : {}),
      ...(named === '' ? {} : { toolName: named }),
      argsDelta,
    })
  }

  /** The open call that a fragment belongs to; `undefined` where it begins a call of its own. */
  #callOf(fragment: Wire, name: string | undefined): OpenCall | undefined {
    const { index } = fragment
    const call =
      index === undefined ? this.#calls.at(-1) : this.#calls.findLast((candidate) => candidate.place === index)
    return call === undefined || beginsAnother(fragment, name, call) ? undefined : call
  }

  #open(fragment: Wire): OpenCall {
    const call = {
      index: this.#calls.length,
      place: fragment.index,
      given: undefined,
      id: undefined,
      name: '',
      args: '',
    }
    this.#calls.push(call)
    return call
  }

  #whole(): Wire {
    const calls = this.#calls.map((call) => {
      call.id ??= this.#reading.ids.claim(undefined)
      return { id: call.id, function: { name: call.name, arguments: call.args } }
    })
    return {
      ...this.#message,
      ...(this.#details.length === 0 ? {} : { reasoning_details: this.#details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
  }
}

/**
 * Whether a fragment that claims the place of `call` is another call: it brings a name, and another id; or no id, where
 * the arguments of `call` are whole. Some servers count every call as the first, or do not count at all.
 */
function beginsAnother(fragment: Wire, name: string | undefined, call: OpenCall): boolean {
  if (name === undefined || call.name === '') return false
  const given = wireName(fragment.id)
  if (given !== undefined) return call.given !== undefined && given !== call.given
  return wireObject(fragment.function).arguments !== '' && parseObject(call.args) !== undefined
}
