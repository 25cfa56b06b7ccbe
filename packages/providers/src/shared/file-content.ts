import type { FilePart, Protocol } from '@sluice/core'
import { SluiceError } from '@sluice/core'

const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** What a file is to a protocol. @throws UNHANDLED_FORMAT */
export function fileKind(part: FilePart, protocol: Protocol): 'image' | 'pdf' {
  if (IMAGES.has(part.mediaType)) return 'image'
  if (part.mediaType === 'application/pdf') return 'pdf'
  throw new SluiceError('UNHANDLED_FORMAT', `The media type "${part.mediaType}" cannot be sent with ${protocol}.`, {
    hint: 'Use PDF, JPEG, PNG, GIF or WebP.',
    details: { protocol, mediaType: part.mediaType },
  })
}

/** The file as a data URL. */
export function dataUrl(part: FilePart): string {
  return `data:${part.mediaType};base64,${part.data}`
}

/** True for images, whose tokens a provider bounds whatever their size. */
export function isImage(mediaType: string): boolean {
  return IMAGES.has(mediaType)
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
