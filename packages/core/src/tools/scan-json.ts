/** What one pass over a JSON text tells before it is parsed. It takes time in proportion to the text and no memory. */
export interface JsonScan {
  /** Deepest nesting of objects and lists. */
  readonly depth: number
  /** Colons outside strings: in valid JSON, the number of keys with repetitions. */
  readonly colons: number
  /** Where something other than white space follows the first whole value; -1 where nothing does. */
  readonly trailingAt: number
  /** True where a string or a bracket is still open at the end. */
  readonly unfinished: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a

/** Scans a text that begins with an object or a list. Nothing is said about whether the text is valid JSON. */
export function scanJson(text: string): JsonScan {
  let depth = 0
  let deepest = 0
  let colons = 0
  let index = 0
  for (; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) {
      index = endOfString(text, index + 1)
      if (index < 0) return { depth: deepest, colons, trailingAt: -1, unfinished: true }
    } else if (unit === COLON) {
      colons += 1
    } else if (unit === 0x7b || unit === 0x5b) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1
      if (depth <= 0) break
    }
  }
  return { depth: deepest, colons, trailingAt: contentAfter(text, index + 1), unfinished: depth > 0 }
}

/** Index of the quote that ends the string whose content begins at `from`; -1 where none does. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (end - backslashes > from && text.charCodeAt(end - backslashes - 1) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return -1
}

function contentAfter(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    if (!isJsonSpace(text.charCodeAt(index))) return index
  }
  return -1
}

/** Index of the first unit that is no JSON white space; the length of the text where there is none. */
export function firstContent(text: string): number {
  const index = contentAfter(text, 0)
  return index < 0 ? text.length : index
}

function isJsonSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}

/** Index of the first raw control character inside a string, which JSON does not allow; -1 where there is none. */
export function rawControlInString(text: string): number {
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) inString = !inString
    else if (inString && unit === BACKSLASH) index += 1
    else if (inString && unit < 0x20) return index
  }
  return -1
}

/** The first key that one object holds twice; `undefined` where none does. For texts that `JSON.parse` takes. */
export function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === 0x7b) open.push(new Set())
    else if (unit === 0x5b) open.push(undefined)
    else if (unit === 0x7d || unit === 0x5d) open.pop()
    else if (unit === QUOTE) {
      const end = endOfString(text, index + 1)
      const keys = open.at(-1)
      if (keys !== undefined && text.charCodeAt(skipSpace(text, end + 1)) === COLON) {
        const raw = text.slice(index + 1, end)
        const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
        if (keys.has(key)) return key
        keys.add(key)
      }
      index = end
    }
  }
  return undefined
}

function skipSpace(text: string, from: number): number {
  let index = from
  while (index < text.length && isJsonSpace(text.charCodeAt(index))) index += 1
  return index
}
