import type { ProviderErrorOptions, StreamPart } from '@sluice/core'
import { errorInReply } from '../shared/reply-fault.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject } from '../shared/wire-json.js'
import type { Reading, StreamReader, WireReply } from '../shared/wire-protocol.js'
import { blockReason, contentParts, fromCandidate } from './from-google-response.js'
import { GoogleParts } from './google-parts.js'
import { googleUsage } from './google-usage.js'

/** Puts the answers of one stream together: each is one like a whole answer has, with the next piece of its content. */
export function openGoogleStream(reading: Reading): StreamReader {
  return new GoogleStream(reading)
}

class GoogleStream implements StreamReader {
  readonly #reading: Reading
  readonly #parts: GoogleParts
  readonly #answer: Wire = {}
  #candidate: Wire = {}
  #ended = false

  constructor(reading: Reading) {
    this.#reading = reading
    this.#parts = new GoogleParts(reading)
  }

  /**
   * The protocol has no end event. A reply is whole when its last content says why it finished: where code ran at the
   * provider, a reason may stand in the middle, with more content behind it.
   */
  get ended(): boolean {
    return this.#ended
  }

  read(event: unknown, out: StreamPart[]): void {
    const answer = Array.isArray(event) ? (event[0] as unknown) : event
    if (!isWire(answer)) return
    if (answer.error !== undefined && answer.error !== null) throw errorInReply(answer.error)
    for (const member of ['modelVersion', 'responseId', 'promptFeedback']) {
      if (answer[member] !== undefined) this.#answer[member] = answer[member]
    }
    // figures are cumulative; one that is not repeated stands
    if (isWire(answer.usageMetadata)) {
      this.#answer.usageMetadata = { ...wireObject(this.#answer.usageMetadata), ...answer.usageMetadata }
    }
    if (blockReason(answer) !== undefined) this.#ended = true
    const candidate = wireList(answer.candidates)[0]
    if (isWire(candidate)) this.#read(candidate, out)
  }

  reply(): WireReply {
    return fromCandidate(this.#answer, this.#candidate, this.#parts.parts(), this.#reading)
  }

  partial(): NonNullable<ProviderErrorOptions['partial']> {
    const model = wireName(this.#answer.modelVersion)
    const { usage } = googleUsage(this.#answer.usageMetadata)
    return {
      parts: this.#parts.parts(),
      usage: usage.unreportedCalls > 0 ? null : usage,
      ...(model === undefined ? {} : { model }),
    }
  }

  #read(candidate: Wire, out: StreamPart[]): void {
    const { content: _content, ...said } = candidate
    // a spread, since the wire may hold any name
    this.#candidate = { ...this.#candidate, ...said }
    const parts = contentParts(candidate)
    for (const part of parts) this.#parts.add(part, out)
    if (wireName(candidate.finishReason) !== undefined) this.#ended = true
    else if (parts.length > 0) this.#ended = false
  }
}
