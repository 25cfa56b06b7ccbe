import type { RecordedResponse } from '@sluice/testkit'

/** A reply as a test writes it, for any protocol. */
export interface WireReply {
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly id?: string; readonly name: string; readonly args: string }>
  /** Readable reasoning and the opaque text that has to go back. */
  readonly reasoning?: { readonly text: string; readonly marker: string }
  /** `null`: nothing is reported. */
  readonly usage?: WireUsage | null
  /** The protocol's own word for why it ended. */
  readonly finish?: string
}

/** One logical request: all tokens of the prompt, those of it that were cached, all tokens of the answer. */
export interface WireUsage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

export const SOME_USAGE: WireUsage = { input: 21, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 }

/** Writes replies in one wire format. */
export interface Wire {
  whole(reply: WireReply): RecordedResponse
  stream(reply: WireReply): RecordedResponse
  /** The stream without its end event. */
  cutOff(reply: WireReply): RecordedResponse
  error(status: number, message: string, type: string, headers?: Readonly<Record<string, string>>): RecordedResponse
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): RecordedResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}

export function sse(events: ReadonlyArray<unknown>, named: boolean): RecordedResponse {
  const lines = events.map((event) => {
    const name = named ? `event: ${(event as { type: string }).type}\n` : ''
    return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
  })
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, bodyText: lines.join('') }
}

/** A text in two pieces, cut inside of a word. */
export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}
