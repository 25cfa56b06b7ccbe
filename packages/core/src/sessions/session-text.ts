import type { SessionRecord } from '../store/records.js'

/** Longest title, in characters; what is longer is cut (S-31). */
export const MAX_TITLE = 200
/** Longest feedback comment, in characters; what is longer is cut (S-32). */
export const MAX_COMMENT = 2000

/** A title or comment as it is kept: trimmed and cut at `max` characters; `null` where nothing is left. */
export function boundedCharacters(text: string | null | undefined, max: number): string | null {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return null
  if (trimmed.length <= max) return trimmed
  let end = 0
  for (let count = 0; count < max && end < trimmed.length; count++)
    end += (trimmed.codePointAt(end) as number) > 0xffff ? 2 : 1
  return trimmed.slice(0, end)
}

/** `up` or `down`, compared trimmed and in any case; everything else is no rating (S-32). */
export function parseRating(rating: unknown): SessionRecord['feedbackRating'] {
  if (typeof rating !== 'string') return null
  const word = rating.trim().toLowerCase()
  return word === 'up' || word === 'down' ? word : null
}
