import { SluiceError } from '../../errors/sluice-error.js'

/** True for text without unpaired surrogates. */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/**
 * Refuses a row of the core with `STORE_VALUE_INVALID` where a string in it holds an unpaired surrogate (CASE-20): no
 * database takes one, so no store does. Looks only; the row is plain data that nobody changes any more.
 */
export function checkStrings(row: unknown, what: string): void {
  if (allWellFormed(row)) return
  throw new SluiceError('STORE_VALUE_INVALID', `${what} holds an unpaired surrogate at '${unpairedAt(row)}'.`, {
    hint: 'Pass the text through `toWellFormed()` before it is stored.',
  })
}

/** As {@link checkStrings}, for a row that replaces `current`: only what has changed is looked at. */
export function checkChangedStrings<Row extends object>(row: Row, current: Row | undefined, what: string): void {
  for (const key in row) {
    if (current !== undefined && row[key] === current[key]) continue
    if (!allWellFormed(row[key]) || !isWellFormed(key)) checkStrings(row, what)
  }
}

/** The check itself, on everything that is written: no place is put together where nothing is wrong. */
function allWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!allWellFormed(value[index])) return false
    return true
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    if (typeof item === 'string' ? !isWellFormed(item) : !allWellFormed(item)) return false
    if (!isWellFormed(key)) return false
  }
  return true
}

function unpairedAt(value: unknown): string | undefined {
  if (typeof value === 'string') return isWellFormed(value) ? undefined : '$'
  if (value === null || typeof value !== 'object') return undefined
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const place = unpairedAt(value[index])
      if (place !== undefined) return `$[${index}]${place.slice(1)}`
    }
    return undefined
  }
  for (const key in value) {
    const place = isWellFormed(key) ? unpairedAt((value as Record<string, unknown>)[key]) : '$'
    if (place !== undefined) return `$.${isWellFormed(key) ? key.slice(0, 80) : '(key)'}${place.slice(1)}`
  }
  return undefined
}
