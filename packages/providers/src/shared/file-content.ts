import type { FilePart, Protocol } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { IMAGE_TYPES, PDF_TYPE } from '../behaviour/file-types.js'
import type { BuiltInProtocol } from '../behaviour/protocol-behaviour.js'
import { PROTOCOL_BEHAVIOUR } from '../behaviour/protocol-table.js'

const ANY: readonly string[] = [...IMAGE_TYPES, PDF_TYPE]

/** What a file is to a protocol, as its row says. @throws UNHANDLED_FORMAT */
export function fileKind(part: FilePart, protocol: Protocol): 'image' | 'pdf' {
  const taken = Object.hasOwn(PROTOCOL_BEHAVIOUR, protocol)
    ? PROTOCOL_BEHAVIOUR[protocol as BuiltInProtocol].files
    : ANY
  if (taken.includes(part.mediaType)) {
    if (isImage(part.mediaType)) return 'image'
    if (part.mediaType === PDF_TYPE) return 'pdf'
  }
  const hint = taken.length === 0 ? 'This protocol takes no files.' : `It takes ${taken.join(', ')}.`
  throw unhandledFormat(part, protocol, hint)
}

/** The refusal of a file that a protocol does not take. */
export function unhandledFormat(part: FilePart, protocol: Protocol, hint: string): SluiceError {
  return new SluiceError('UNHANDLED_FORMAT', `The media type "${part.mediaType}" cannot be sent with ${protocol}.`, {
    hint,
    details: { protocol, mediaType: part.mediaType },
  })
}

/** The file as a data URL. */
export function dataUrl(part: FilePart): string {
  return `data:${part.mediaType};base64,${part.data}`
}

/** True for images, whose tokens a provider bounds whatever their size. */
export function isImage(mediaType: string): boolean {
  return IMAGE_TYPES.includes(mediaType)
}

/** The refusal of a content part that has no place in a protocol. */
export function unsupportedContent(type: string, place: string, protocol: Protocol): SluiceError {
  return new SluiceError(
    'UNSUPPORTED_CONTENT',
    `A content part of type "${type}" cannot be sent in ${place} with ${protocol}.`,
    {
      details: { protocol, type, place },
    },
  )
}
