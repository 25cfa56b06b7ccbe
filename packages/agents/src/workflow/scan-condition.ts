import type { Path } from './path.js'
import { parsePath } from './path.js'

/** A reference in a condition, at its characters `start` to `end`. */
export interface ConditionReference {
  readonly start: number
  readonly end: number
  readonly path: Path
}

/** What a condition holds besides CEL. Faults name the character that they begin at, counted from one. */
export interface ScannedCondition {
  readonly references: readonly ConditionReference[]
  readonly faults: readonly string[]
  /** The condition with blanks in place of texts and references, at the same length. */
  readonly bare: string
}

/** Finds the references of a condition, and refuses those inside its texts: there they would be compared as they stand. */
export function scanCondition(text: string, roots: readonly string[]): ScannedCondition {
  const references: ConditionReference[] = []
  const faults: string[] = []
  let bare = ''
  let at = 0
  const skip = (end: number): void => {
    bare += ' '.repeat(end - at)
    at = end
  }
  while (at < text.length) {
    if (text.startsWith('//', at)) skip(lineEnd(text, at))
    else if (text[at] === "'" || text[at] === '"') {
      const end = literalEnd(text, at)
      const inside = text.slice(at, end).indexOf('{$.')
      if (inside >= 0)
        faults.push(`has a reference inside quotes at character ${at + inside + 1}; write it without the quotes`)
      skip(end)
    } else if (text.startsWith('{$.', at)) {
      const brace = text.indexOf('}', at)
      if (brace < 0) {
        faults.push(`has a reference at character ${at + 1} without a closing brace`)
        skip(text.length)
        break
      }
      if (/\.\s*$/.test(bare)) faults.push(`has a reference at character ${at + 1} behind a dot; name one path`)
      const path = parsePath(text.slice(at + 3, brace), roots)
      if (typeof path === 'string') faults.push(`has a reference at character ${at + 1} that ${path}`)
      else references.push({ start: at, end: brace + 1, path })
      skip(brace + 1)
    } else {
      bare += text[at]
      at += 1
    }
  }
  return { references, faults, bare }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** The character behind a text of CEL: single, double or three quotes, raw behind an `r`. */
function literalEnd(text: string, from: number): number {
  const quote = text[from] as string
  const long = text.startsWith(quote.repeat(3), from)
  const closing = long ? quote.repeat(3) : quote
  const raw = /(?:^|[^A-Za-z0-9_])(?:[rR][bB]?|[bB][rR])$/.test(text.slice(Math.max(0, from - 3), from))
  for (let at = from + closing.length; at < text.length; at++) {
    if (!raw && text[at] === '\\') at += 1
    else if (text.startsWith(closing, at)) return at + closing.length
    else if (!long && text[at] === '\n') return at
  }
  return text.length
}
