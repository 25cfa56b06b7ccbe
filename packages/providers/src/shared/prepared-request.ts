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

/** Translates a request once, however often it is measured and sent: the result lives as long as the request object. */
export function createPreparation(
  wire: WireProtocol,
  keepObjects: boolean,
): (request: ModelRequest) => PreparedRequest {
  const known = new WeakMap<ModelRequest, PreparedRequest>()
  return (request) => {
    let prepared = known.get(request)
    if (prepared === undefined) {
      const body = wire.toBody(request)
      prepared = { json: JSON.stringify(body), body: keepObjects ? body : undefined }
      known.set(request, prepared)
    }
    return prepared
  }
}

/**
 * An upper bound of the input tokens: the body's length in bytes, where each file counts with the bound of its kind
 * instead of its bytes; `null` where a file has none.
 */
export function tokensAtMost(request: ModelRequest, json: string, wire: WireProtocol): number | null {
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
