import type { AssistantPart, JsonObject, StreamPart } from '@sluice/core'
import { ReplyFault } from '../shared/reply-fault.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject, wireText } from '../shared/wire-json.js'
import type { Reading } from '../shared/wire-protocol.js'
import { PartialArgs } from './partial-args.js'

/** One part of the wire inside a text of ours: signatures belong to their part, and go back with it. */
export interface TextPiece {
  readonly length: number
  readonly thoughtSignature?: string
}

/** Text or thought that grows with each part of its kind. */
interface OpenText {
  readonly kind: 'text' | 'reasoning'
  text: string
  readonly pieces: TextPiece[]
}

/** A call whose arguments may still be arriving. */
interface OpenCall {
  readonly kind: 'call'
  readonly index: number
  readonly id: string
  readonly name: string
  readonly signature: string | undefined
  readonly partial: PartialArgs
  args: unknown
  ended: boolean
}

type Item = OpenText | OpenCall | { readonly kind: 'whole'; readonly part: AssistantPart }

/**
 * The parts of a model's content as neutral parts, in their order; a stream brings the same parts piece by piece. Pieces
 * of one text become one text. Parts that are not known are kept as hosted, so that they can go back.
 */
export class GoogleParts {
  readonly #reading: Reading
  readonly #items: Item[] = []
  #calls = 0

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** Takes one part of the wire, and appends what it tells a consumer of a stream to `out`. */
  add(part: Wire, out: StreamPart[]): void {
    if (isWire(part.functionCall)) this.#call(part.functionCall, signatureOf(part), out)
    else if (isWire(part.inlineData)) this.#whole(this.#file(part, part.inlineData))
    else {
      const member = typeof part.text === 'string' ? undefined : Object.keys(part).find((name) => !ABOUT_TEXT.has(name))
      if (member === undefined) this.#text(part, out)
      else this.#whole(this.#hosted(part, member))
    }
  }

  parts(): AssistantPart[] {
    return this.#items.map((item) => {
      if (item.kind === 'whole') return item.part
      return item.kind === 'call' ? this.#callPart(item) : this.#textPart(item)
    })
  }

  #whole(part: AssistantPart): void {
    this.#items.push({ kind: 'whole', part })
  }

  #own<Part extends AssistantPart>(part: Part, own: object): Part {
    return { ...part, providerOptions: { [this.#reading.providerId]: own as JsonObject } }
  }

  #text(part: Wire, out: StreamPart[]): void {
    const kind = part.thought === true ? 'reasoning' : 'text'
    const text = wireText(part.text)
    const thoughtSignature = signatureOf(part)
    if (text === '' && thoughtSignature === undefined) return
    let open = this.#items.at(-1)
    if (open?.kind !== kind) {
      open = { kind, text: '', pieces: [] }
      this.#items.push(open)
    }
    open.text += text
    addPiece(open.pieces, text.length, thoughtSignature)
    if (text !== '') out.push({ type: kind === 'text' ? 'text_delta' : 'reasoning_delta', text })
  }

  #textPart({ kind, text, pieces }: OpenText): AssistantPart {
    const [first] = pieces
    const signed = pieces.some((piece) => piece.thoughtSignature !== undefined)
    const own = !signed ? {} : pieces.length === 1 ? { thoughtSignature: first?.thoughtSignature } : { pieces }
    if (kind === 'reasoning') return this.#own({ type: 'reasoning', text }, { thought: true, ...own })
    // a signature that came without a text is no text of the answer
    if (text === '') return this.#own({ type: 'reasoning', text }, own)
    return signed ? this.#own({ type: 'text', text }, own) : { type: 'text', text }
  }

  #call(call: Wire, signature: string | undefined, out: StreamPart[]): void {
    const name = wireName(call.name)
    let open = this.#items.findLast((item): item is OpenCall => item.kind === 'call' && !item.ended)
    if (open === undefined || name !== undefined) {
      if (name === undefined && Object.keys(call).length === 0) return
      if (open !== undefined) this.#end(open, out)
      open = this.#open(call, signature, out)
    }
    if (isWire(call.args)) open.args = { ...wireObject(open.args), ...call.args }
    for (const piece of wireList(call.partialArgs)) if (isWire(piece)) open.partial.add(piece)
    if (call.willContinue !== true) this.#end(open, out)
  }

  #open(call: Wire, signature: string | undefined, out: StreamPart[]): OpenCall {
    const open: OpenCall = {
      kind: 'call',
      index: this.#calls,
      id: this.#reading.ids.claim(call.id),
      name: wireText(call.name),
      signature,
      partial: new PartialArgs(),
      args: undefined,
      ended: false,
    }
    this.#calls += 1
    this.#items.push(open)
    out.push({ type: 'tool_call_delta', index: open.index, toolCallId: open.id, toolName: open.name, argsDelta: '' })
    return open
  }

  /** Arguments come value by value, which is no JSON text yet: it is told when it is whole. */
  #end(open: OpenCall, out: StreamPart[]): void {
    open.ended = true
    out.push({ type: 'tool_call_delta', index: open.index, argsDelta: argsOf(open) })
  }

  #callPart(open: OpenCall): AssistantPart {
    const whole = argsOf(open)
    // a text that broke off must not pass for a shorter one: what is not at its end is no JSON
    const args = !open.ended && open.partial.cutOff ? whole.slice(0, -1) : whole
    const part = { type: 'tool_call' as const, toolCallId: open.id, toolName: open.name, args }
    return open.signature === undefined ? part : this.#own(part, { thoughtSignature: open.signature })
  }

  #file(part: Wire, { mimeType, data }: Wire): AssistantPart {
    const { inlineData: _data, ...own } = part
    return this.#own({ type: 'file', mediaType: wireText(mimeType), data: wireText(data) }, { made: true, ...own })
  }

  #hosted(part: Wire, member: string): AssistantPart {
    return this.#own({ type: 'hosted', toolName: hostedName(part, member), text: hostedText(part, member) }, { part })
  }
}

const ABOUT_TEXT = new Set(['text', 'thought', 'thoughtSignature'])

function signatureOf(part: Wire): string | undefined {
  return wireName(part.thoughtSignature)
}

/** Pieces without a signature need no border between them. */
function addPiece(pieces: TextPiece[], length: number, thoughtSignature: string | undefined): void {
  const last = pieces.at(-1)
  if (thoughtSignature !== undefined) pieces.push({ length, thoughtSignature })
  else if (last !== undefined && last.thoughtSignature === undefined) {
    pieces[pieces.length - 1] = { length: last.length + length }
  } else pieces.push({ length })
}

function argsOf({ args, partial }: OpenCall): string {
  try {
    return JSON.stringify({ ...wireObject(args), ...partial.value })
  } catch {
    throw new ReplyFault('the arguments of a call are nested too deep to be read')
  }
}

const HOSTED_NAMES: Readonly<Record<string, string>> = {
  executableCode: 'code_execution',
  codeExecutionResult: 'code_execution',
}

function hostedName(part: Wire, member: string): string {
  if (Object.hasOwn(HOSTED_NAMES, member)) return HOSTED_NAMES[member] as string
  return wireName(wireObject(part[member]).toolType)?.toLowerCase() ?? member
}

function hostedText(part: Wire, member: string): string {
  const { code, output } = wireObject(part[member])
  return wireName(code) ?? wireName(output) ?? member
}
