import type { ModelRequest } from '@sluice/core'
import type { Wire } from './wire-json.js'
import type { WireProtocol } from './wire-protocol.js'

/** One request, translated. */
export interface PreparedRequest {
  /** The body as JSON: what goes out, and what is measured. */
  readonly json: string
  /** The body as an object, for the clients that want one; a request in flight should hold no more than it needs. */
  readonly body: Wire | undefined
}

/** The translation of requests to one protocol. */
export interface Preparation {
  /** For measuring: what was translated is kept until the request is sent, so that it is translated once. */
  measure(request: ModelRequest): PreparedRequest
  /** For sending. A request that nobody measured leaves nothing behind. */
  send(request: ModelRequest): PreparedRequest
}

export function createPreparation(wire: WireProtocol, keepObjects: boolean): Preparation {
  const measured = new WeakMap<ModelRequest, PreparedRequest>()
  const prepare = (request: ModelRequest): PreparedRequest => {
    const body = wire.toBody(request)
    return { json: JSON.stringify(body), body: keepObjects ? body : undefined }
  }
  return {
    measure(request) {
      let prepared = measured.get(request)
      if (prepared === undefined) {
        prepared = prepare(request)
        measured.set(request, prepared)
      }
      return prepared
    },
    send: (request) => measured.get(request) ?? prepare(request),
  }
}

/**
 * An upper bound of the input tokens: the body's length in bytes, where each file counts with the bound of its kind
 * instead of its bytes; `null` where a file has none, or where the provider adds what is not in the request.
 */
export function tokensAtMost(request: ModelRequest, json: string, wire: WireProtocol): number | null {
  if (wire.addsToInput?.(request) === true) return null
  let most = Buffer.byteLength(json)
  for (const message of request.messages) {
    if (message.role !== 'user' && message.role !== 'assistant') continue
    for (const part of message.content) {
      if (part.type !== 'file') continue
      const bound = wire.fileTokensAtMost(part.mediaType)
      if (bound === null) return null
      if (bound === 'bytes') continue
      most += bound - part.data.length
    }
  }
  return most
}
