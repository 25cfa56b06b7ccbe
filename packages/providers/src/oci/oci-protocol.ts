import { OCI_GENERIC } from '../behaviour/oci-behaviour.js'
import { wireObject } from '../shared/wire-json.js'
import type { Reading, StreamReader, WireProtocol } from '../shared/wire-protocol.js'
import type { OciContext, OciProtocol } from './chat-details.js'
import { TAILS } from './chat-details.js'
import { fromOciCohereResponse } from './cohere/from-oci-response.js'
import { openOciCohereStream } from './cohere/from-oci-stream.js'
import { toOciCohereRequest } from './cohere/to-oci-request.js'
import { fromOciGenericResponse } from './generic/from-oci-response.js'
import { openOciGenericStream } from './generic/from-oci-stream.js'
import { toOciGenericRequest } from './generic/to-oci-request.js'
import { OCI_ERRORS } from './oci-errors.js'
import { createCohereSchemas, createGenericSchemas } from './oci-schemas.js'

/** How the models of Cohere are named, where they are named at all. */
const COHERE_MODEL = /^cohere\./

/** What both protocols share. */
const SHARED = {
  path: '/20231130/actions/chat',
  streamMembers: {},
  tails: TAILS,
  errors: OCI_ERRORS,
} as const

/** The chat of every vendor but Cohere as a wire protocol. */
export function genericProtocol(context: OciContext): WireProtocol {
  const schemas = createGenericSchemas()
  return {
    ...SHARED,
    protocol: 'oci-generic',
    toBody: (request) => toOciGenericRequest(request, context, schemas),
    fromBody: fromOciGenericResponse,
    openStream: openOciGenericStream,
    fileTokensAtMost: () => OCI_GENERIC.imageTokensAtMost,
    checkSchema: schemas.check,
    wrapsOutput: schemas.wrapsOutput,
  }
}

/** The chat of Cohere as a wire protocol. */
export function cohereProtocol(context: OciContext): WireProtocol {
  const schemas = createCohereSchemas()
  return {
    ...SHARED,
    protocol: 'oci-cohere',
    toBody: (request) => toOciCohereRequest(request, context, schemas),
    fromBody: fromOciCohereResponse,
    openStream: openOciCohereStream,
    // it takes none
    fileTokensAtMost: () => null,
    checkSchema: schemas.check,
    wrapsOutput: schemas.wrapsOutput,
  }
}

/**
 * Both, told apart by the vendor in the model's name: requests by the model, answers by what they say of themselves.
 * Schemas are checked for the generic protocol; what Cohere cannot say beyond that is refused before anything is sent.
 */
export function vendorProtocol(context: OciContext): WireProtocol {
  const generic = genericProtocol(context)
  const cohere = cohereProtocol(context)
  return {
    ...generic,
    toBody: (request) => (COHERE_MODEL.test(request.model) ? cohere : generic).toBody(request),
    fromBody(body, reading) {
      const chat = wireObject(wireObject(body).chatResponse)
      return (chat.apiFormat === 'COHERE' ? cohere : generic).fromBody(body, reading)
    },
    openStream: (reading) => new VendorStream(reading),
  }
}

/** A stream whose first event tells its protocol. */
class VendorStream implements StreamReader {
  readonly #reading: Reading
  #reader: StreamReader | undefined

  constructor(reading: Reading) {
    this.#reading = reading
  }

  get ended(): boolean {
    return this.#reader?.ended === true
  }

  read(event: unknown, out: Parameters<StreamReader['read']>[1]): void {
    const isCohere = wireObject(event).apiFormat === 'COHERE'
    this.#reader ??= isCohere ? openOciCohereStream(this.#reading) : openOciGenericStream(this.#reading)
    this.#reader.read(event, out)
  }

  reply(): ReturnType<StreamReader['reply']> {
    return (this.#reader ?? openOciGenericStream(this.#reading)).reply()
  }

  partial(): ReturnType<StreamReader['partial']> {
    return (this.#reader ?? openOciGenericStream(this.#reading)).partial()
  }
}

/** The wire protocol of an adapter: the named one, else told by each model's name. */
export function ociProtocol(protocol: OciProtocol | undefined, context: OciContext): WireProtocol {
  if (protocol === undefined) return vendorProtocol(context)
  return protocol === 'oci-cohere' ? cohereProtocol(context) : genericProtocol(context)
}
