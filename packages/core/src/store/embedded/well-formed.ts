import { SluiceError } from '../../errors/sluice-error.js'

// Keys are taken by Object.keys: in `for (key in row) row[key]` over rows of many shapes V8 gives up its code again and again.

/** True for text without unpaired surrogates. */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/**
 * Refuses a row of the core with `STORE_VALUE_INVALID` where a string in it holds an unpaired surrogate (CASE-20): no
 * database takes one, so no store does. Looks only; the row is plain data that nobody changes any more. Everything that is
 * written comes by here, so nothing is looked at twice: the names of the columns are ours, and what an item of a list has
 * in common with the one before it was looked at there.
 */
export function checkStrings(row: object, what: string, sound?: SoundItems): void {
  for (const column of Object.keys(row)) {
    if (!allWellFormed((row as Record<string, unknown>)[column], sound)) throw unpaired(row, what)
  }
}

/** Items of lists that were looked at, cannot change any more and come again and again: a store keeps one for its rows. */
export type SoundItems = WeakSet<object>

/** As {@link checkStrings}, for a row that replaces `current`: only what has changed is looked at. */
export function checkChangedStrings<Row extends object>(row: Row, current: Row | undefined, what: string): void {
  for (const column of Object.keys(row) as (keyof Row)[]) {
    if (current !== undefined && row[column] === current[column]) continue
    if (!allWellFormed(row[column])) throw unpaired(row, what)
  }
}

function unpaired(row: object, what: string): SluiceError {
  return new SluiceError('STORE_VALUE_INVALID', `${what} holds an unpaired surrogate at '${unpairedAt(row)}'.`, {
    hint: 'Pass the text through `toWellFormed()` before it is stored.',
  })
}

export function allWellFormed(value: unknown, sound?: SoundItems): boolean {
  if (typeof value === 'string') return isWellFormed(value)
  if (typeof value !== 'object' || value === null) return true
  return Array.isArray(value) ? listWellFormed(value, sound) : objectWellFormed(value as Record<string, unknown>, sound)
}

function objectWellFormed(value: Readonly<Record<string, unknown>>, sound?: SoundItems): boolean {
  for (const key of Object.keys(value)) if (!allWellFormed(value[key], sound) || !isWellFormed(key)) return false
  return true
}

function listWellFormed(items: readonly unknown[], sound?: SoundItems): boolean {
  let before: Readonly<Record<string, unknown>> | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      if (!allWellFormed(item, sound)) return false
      continue
    }
    if (sound?.has(item) === true) continue
    const next = item as Readonly<Record<string, unknown>>
    if (!(before === undefined ? objectWellFormed(next, sound) : nextWellFormed(next, before, sound))) return false
    before = next
    if (sound !== undefined && isFixed(next)) sound.add(next)
  }
  return true
}

/** For an object whose neighbour was looked at: only what the neighbour has not. */
function nextWellFormed(
  next: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>>,
  sound?: SoundItems,
): boolean {
  for (const key of Object.keys(next)) {
    const value = next[key]
    const known = before[key]
    if (value !== known && !allWellFormed(value, sound)) return false
    if (known === undefined && !isWellFormed(key)) return false
  }
  return true
}

/** True for a frozen object that holds no other. */
function isFixed(item: Readonly<Record<string, unknown>>): boolean {
  if (!Object.isFrozen(item)) return false
  for (const key of Object.keys(item)) if (typeof item[key] === 'object' && item[key] !== null) return false
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
  for (const key of Object.keys(value)) {
    const place = isWellFormed(key) ? unpairedAt((value as Record<string, unknown>)[key]) : '$'
    if (place !== undefined) return `$.${isWellFormed(key) ? key.slice(0, 80) : '(key)'}${place.slice(1)}`
  }
  return undefined
}
