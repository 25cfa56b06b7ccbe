import type { JsonValue } from '@sluice/core'
import type { Path, Resolved } from './path.js'
import { parsePath } from './path.js'

/** A text with references, scanned once: texts and paths in turn. */
export interface Template {
  readonly pieces: readonly (string | Path)[]
  /** The only piece, where the text is one reference and nothing else: then the value keeps its type (W-17). */
  readonly whole: Path | undefined
  readonly paths: readonly Path[]
}

const OPENING = /\{?\{\$\./g

/**
 * Scans a text for references: `{$.` begins one, the next `}` ends it (W-8). `{{$.` stands for a literal `{$.`; all other
 * braces are text. Faults come as texts.
 */
export function compileTemplate(
  text: string,
  roots: readonly string[],
): Template | { readonly faults: readonly string[] } {
  const pieces: (string | Path)[] = []
  const faults: string[] = []
  let literal = ''
  let from = 0
  OPENING.lastIndex = 0
  for (let found = OPENING.exec(text); found !== null; found = OPENING.exec(text)) {
    literal += text.slice(from, found.index)
    from = found.index + found[0].length
    if (found[0].startsWith('{{')) {
      literal += '{$.'
      continue
    }
    const end = text.indexOf('}', from)
    if (end < 0)
      return { faults: [...faults, `has a reference at character ${found.index + 1} without a closing brace`] }
    const path = parsePath(text.slice(from, end), roots)
    if (typeof path === 'string') faults.push(`has a reference at character ${found.index + 1} that ${path}`)
    else {
      if (literal !== '') pieces.push(literal)
      pieces.push(path)
      literal = ''
    }
    from = end + 1
    OPENING.lastIndex = from
  }
  if (faults.length > 0) return { faults }
  literal += text.slice(from)
  if (literal !== '') pieces.push(literal)
  const [first] = pieces
  return Object.freeze({
    pieces: Object.freeze(pieces),
    whole: pieces.length === 1 && typeof first === 'object' ? first : undefined,
    paths: Object.freeze(pieces.filter((piece): piece is Path => typeof piece === 'object')),
  })
}

/**
 * Puts values in place of the references. What a value holds is text and is not looked at again (W-18). A path without a
 * value leaves nothing, and is told (W-15).
 */
export function renderTemplate(
  { pieces }: Template,
  resolve: (path: Path) => Resolved,
  missing: (path: Path) => void,
): string {
  let text = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece
    else {
      const resolved = resolve(piece)
      if (resolved.found) text += toText(resolved.value)
      else missing(piece)
    }
  }
  return text
}

/** A value inside a text: strings as they are, `null` as nothing, all else as JSON. */
export function toText(value: JsonValue): string {
  if (typeof value === 'string') return value
  return value === null ? '' : JSON.stringify(value)
}
