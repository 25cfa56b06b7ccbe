import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

/** The page size asked for; default 100. @throws INVALID_CONFIG, or LIMIT_EXCEEDED above 1 000 */
export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT
  const size = checkCount(limit, 'limit', 1)
  if (size > MAX_LIMIT) {
    throw new SluiceError('LIMIT_EXCEEDED', `A page of ${size} items was asked for; at most ${MAX_LIMIT} are given.`, {
      details: { limit: size, max: MAX_LIMIT },
      hint: 'Ask for less and go on with `after`.',
    })
  }
  return size
}

/** A whole number from `min` on. @throws INVALID_CONFIG */
export function checkCount(value: number, name: string, min: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value
  throw new SluiceError('INVALID_CONFIG', `\`${name}\` is ${escapeControl(String(value), 40)}.`, {
    reason: 'store.page',
    hint: `Give a whole number from ${min} on.`,
  })
}

/** Place of a row in a list that is ordered by a number and, among equals, by a text. */
export interface Cursor {
  readonly number: number
  readonly text: string
}

export function formatCursor(number: number, text: string): string {
  return `${number}:${text}`
}

/** @throws INVALID_CONFIG for a text that is no cursor of such a list */
export function parseCursor(cursor: string): Cursor {
  const colon = typeof cursor === 'string' ? cursor.indexOf(':') : -1
  const number = colon > 0 ? Number(cursor.slice(0, colon)) : Number.NaN
  if (!Number.isFinite(number)) {
    throw new SluiceError(
      'INVALID_CONFIG',
      `\`after\` is no place in this list: '${escapeControl(String(cursor), 80)}'.`,
      {
        reason: 'store.page',
        hint: 'Give back the `next` of the page before.',
      },
    )
  }
  return { number, text: cursor.slice(colon + 1) }
}

/** A cursor that is a text of the list's own order: any text is a place in it. */
export function checkCursorText(cursor: string): string {
  if (typeof cursor === 'string') return cursor
  parseCursor(cursor)
  return cursor
}
