/** A template that was scanned once. */
export interface CompiledTemplate {
  /** Names of the placeholders in order of appearance, each once, in the spelling that came first. */
  readonly placeholders: readonly string[]
  /** Text and placeholders in turn: text at even places, names at odd ones. */
  readonly pieces: readonly string[]
}

const PLAIN = 1
const ESCAPED = 2

/**
 * Scans a template once, from left to right (P-11, P-16, CASE-30):
 *
 * - `{name}`, with letters, digits and underscores, is a placeholder, wherever it stands
 * - `{{` is a literal `{`, and `}}` a literal `}`
 * - braces that hold anything else stay as they are, so a JSON example needs no escaping: inside such braces a `}` closes
 *   the innermost of them, also where two of them meet, as in `{"a": {"b": 1}}`
 *
 * It takes time in proportion to the text.
 */
export function compileTemplate(template: string): CompiledTemplate {
  const pieces: string[] = []
  const names = new Map<string, string>()
  const open: number[] = []
  const brace = /[{}]/g
  const placeholder = /\{([A-Za-z0-9_]+)\}/y
  let text = ''
  let from = 0
  for (let found = brace.exec(template); found !== null; found = brace.exec(template)) {
    const at = found.index
    const doubled = template[at + 1] === found[0]
    placeholder.lastIndex = at
    const name = found[0] === '{' && !doubled ? placeholder.exec(template)?.[1] : undefined
    if (name !== undefined) {
      pieces.push(text + template.slice(from, at), name)
      if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
      text = ''
      from = at + name.length + 2
    } else if (doubled && (found[0] === '{' || open.at(-1) !== PLAIN)) {
      if (found[0] === '{') open.push(ESCAPED)
      else open.pop()
      text += template.slice(from, at + 1)
      from = at + 2
    } else if (found[0] === '{') {
      open.push(PLAIN)
      continue
    } else {
      if (open.at(-1) === PLAIN) open.pop()
      continue
    }
    brace.lastIndex = from
  }
  pieces.push(text + template.slice(from))
  return Object.freeze({ placeholders: Object.freeze([...names.values()]), pieces: Object.freeze(pieces) })
}
