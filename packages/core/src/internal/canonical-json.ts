import type { JsonValue } from './json.js'
import { isPlainObject } from './json.js'

/**
 * JSON text in the canonical form of RFC 8785: no white space, own keys in the order of their UTF-16 units, numbers as
 * ECMAScript prints them. Equal data has equal text, whatever the order in which its keys were written. A key whose value
 * is `undefined` counts as absent. Throws a `TypeError` that names the place for everything that is not JSON data.
 */
export function canonicalJson(value: JsonValue): string {
  return write(value, '$')
}

function write(value: unknown, key: string): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isFinite(value)) throw notJson(key, String(value))
      return JSON.stringify(value)
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return writeArray(value, key)
      if (isPlainObject(value)) return writeObject(value)
      throw notJson(key, 'an object with a class of its own')
    default:
      throw notJson(key, `a value of type ${typeof value}`)
  }
}

function writeArray(items: readonly unknown[], key: string): string {
  let text = '['
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ','
    text += write(items[index], key)
  }
  return `${text}]`
}

function writeObject(value: Record<string, unknown>): string {
  const keys = Object.keys(value)
  if (!isSorted(keys)) keys.sort()
  let text = ''
  for (const key of keys) {
    const item = value[key]
    if (item === undefined) continue
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${write(item, key)}`
  }
  return text === '' ? '{}' : `${text}}`
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return false
  }
  return true
}

function notJson(key: string, what: string): TypeError {
  return new TypeError(`Not JSON data at ${JSON.stringify(key.slice(0, 100))}: ${what}.`)
}
