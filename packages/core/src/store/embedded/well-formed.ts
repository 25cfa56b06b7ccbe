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
  const place = unpairedAt(row)
  if (place === undefined) return
  throw new SluiceError('STORE_VALUE_INVALID', `${what} holds an unpaired surrogate at '${place}'.`, {
    hint: 'Pass the text through `toWellFormed()` before it is stored.',
  })
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
