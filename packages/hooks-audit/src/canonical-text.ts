import type { JsonValue } from '@sluice/core'

/**
 * Canonical JSON text: no white space, keys in the order of their UTF-16 units, numbers and texts as ECMAScript prints them.
 * A key without a value is left out; no `toJSON` is ever called.
 *
 * @throws TypeError for what JSON cannot hold: numbers that are not finite, functions, symbols, bigints
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalText(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return primitive(value)
  if (Array.isArray(value)) {
    let text = '['
    for (let index = 0; index < value.length; index++) {
      const item = value[index] as JsonValue | undefined
      text += `${index === 0 ? '' : ','}${item === undefined ? 'null' : canonicalText(item)}`
    }
    return `${text}]`
  }
  const object = value as Readonly<Record<string, JsonValue | undefined>>
  let text = ''
  for (const key of sortedKeys(object)) {
    const item = object[key]
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalText(item)}`
  }
  return `{${text}}`
}

/** What was parsed from canonical text is in order already. */
function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object)
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return keys.sort()
  }
  return keys
}

function primitive(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  throw new TypeError(`JSON holds no ${typeof value === 'number' ? String(value) : typeof value}.`)
}

/** An entry as canonical text: whole, and without what its hash does not cover (`hash` and `macs`). */
export interface EntryTexts {
  readonly whole: string
  readonly hashed: string
}

/** Both texts of an entry in one walk. */
export function entryTexts(entry: Readonly<Record<string, JsonValue | undefined>>): EntryTexts {
  let whole = ''
  let hashed = ''
  for (const key of sortedKeys(entry)) {
    const item = entry[key]
    if (item === undefined) continue
    const member = `${JSON.stringify(key)}:${canonicalText(item)}`
    whole += `${whole === '' ? '' : ','}${member}`
    if (key !== 'hash' && key !== 'macs') hashed += `${hashed === '' ? '' : ','}${member}`
  }
  return { whole: `{${whole}}`, hashed: `{${hashed}}` }
}
