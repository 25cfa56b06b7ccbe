/** One sign of a condition in the original's spelling. */
type Token =
  | { readonly kind: 'word' | 'number' | 'operator' | 'reference'; readonly text: string }
  | { readonly kind: 'text'; readonly value: string }

const TOKEN =
  /\s*(?:(?<reference>\{\$\.[^}]*\})|(?<number>-?\d+(?:\.\d+)?)|'(?<text>(?:[^']|'')*)'|(?<operator><>|!=|<=|>=|[=<>(),])|(?<word>[A-Za-z_][A-Za-z0-9_]*))/y
const COMPARISONS: Readonly<Record<string, string>> = {
  '=': '==',
  '<>': '!=',
  '!=': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
}
const FUNCTIONS: Readonly<Record<string, (argument: string) => string>> = {
  lower: (argument) => `${argument}.lowerAscii()`,
  upper: (argument) => `${argument}.upperAscii()`,
  trim: (argument) => `${argument}.trim()`,
  length: (argument) => `size(${argument})`,
}
const MAX_DEPTH = 100

/** Something that the original's grammar does not have, or that CEL has no form for. */
class NoCelForm extends Error {}

/**
 * The CEL form of a condition in the original's grammar (W-38): `=`, `<>`, `and`, `or`, `not`, `is null`, `like`, `in`,
 * `between`. `undefined` where the text is not of that grammar, or a pattern of `like` has no plain form.
 */
export function celFormOf(condition: string): string | undefined {
  const tokens = tokensOf(condition)
  if (tokens === undefined || tokens.length === 0) return undefined
  try {
    return new Translation(tokens).whole()
  } catch (error) {
    if (error instanceof NoCelForm) return undefined
    throw error
  }
}

/** Spellings of the original that CEL has another one for, told where the whole cannot be translated. */
export function originalSpellings(bare: string): readonly string[] {
  return SPELLINGS.filter(([pattern]) => pattern.test(bare)).map(([, told]) => told)
}

const SPELLINGS: readonly (readonly [pattern: RegExp, told: string])[] = [
  [/(?:^|[^=!<>])=(?!=)/, '`=` is `==`'],
  [/<>/, '`<>` is `!=`'],
  [/\band\b/i, '`and` is `&&`'],
  [/\bor\b/i, '`or` is `||`'],
  [/\bnot\b/i, '`not` is `!`'],
  [/\bis\s+null\b/i, '`x is null` is `!has(x) || x == null`'],
  [/\bis\s+not\s+null\b/i, '`x is not null` is `has(x) && x != null`'],
  [/\blike\b/i, "`x like 'a%'` is `x.startsWith('a')`; there are `endsWith` and `contains` too"],
  [/\bin\s*\(/i, '`x in (a, b)` is `x in [a, b]`'],
  [/\bbetween\b/i, '`x between a and b` is `x >= a && x <= b`'],
  [/\b(?:lower|upper)\s*\(/i, '`lower(x)` is `x.lowerAscii()`, `upper(x)` is `x.upperAscii()`'],
  [/\btrim\s*\(/i, '`trim(x)` is `x.trim()`'],
  [/\blength\s*\(/i, '`length(x)` is `size(x)`'],
]

function tokensOf(condition: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  let at = 0
  const text = condition.trimEnd()
  while (at < text.length) {
    TOKEN.lastIndex = at
    const groups = TOKEN.exec(text)?.groups
    if (groups === undefined) return undefined
    at = TOKEN.lastIndex
    const found = (['reference', 'number', 'operator', 'word'] as const).find((kind) => groups[kind] !== undefined)
    if (found !== undefined) tokens.push({ kind: found, text: groups[found] as string })
    else tokens.push({ kind: 'text', value: (groups.text as string).replaceAll("''", "'") })
  }
  return tokens
}

/** Recursive descent over W-38. Each part gives CEL; what binds looser than its place stands in brackets. */
class Translation {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): string {
    const cel = this.#or()
    if (this.#at < this.#tokens.length) throw new NoCelForm()
    return cel
  }

  #or(): string {
    if (++this.#depth > MAX_DEPTH) throw new NoCelForm()
    const parts = [this.#and()]
    while (this.#word('or')) parts.push(this.#and())
    this.#depth -= 1
    return parts.length === 1 ? (parts[0] as string) : parts.join(' || ')
  }

  #and(): string {
    const parts = [this.#not()]
    while (this.#word('and')) parts.push(this.#not())
    if (parts.length === 1) return parts[0] as string
    return parts.map(bracketed).join(' && ')
  }

  #not(): string {
    let negations = 0
    while (this.#word('not')) negations += 1
    const part = this.#comparison()
    return negations % 2 === 0 ? part : `!(${part})`
  }

  #comparison(): string {
    if (this.#operator('(')) {
      const inner = this.#or()
      this.#need(')')
      return `(${inner})`
    }
    const left = this.#value()
    const token = this.#tokens[this.#at]
    if (token?.kind === 'operator' && Object.hasOwn(COMPARISONS, token.text)) {
      this.#at += 1
      return `${left} ${COMPARISONS[token.text]} ${this.#value()}`
    }
    if (this.#word('is')) {
      const negated = this.#word('not')
      if (!this.#word('null')) throw new NoCelForm()
      const path = left.startsWith('{$.')
      if (negated) return path ? `(has(${left}) && ${left} != null)` : `${left} != null`
      return path ? `(!has(${left}) || ${left} == null)` : `${left} == null`
    }
    const negated = this.#word('not')
    const positive = this.#member(left)
    if (positive !== undefined) return negated ? `!(${positive})` : positive
    if (negated) throw new NoCelForm()
    return left
  }

  #member(left: string): string | undefined {
    if (this.#word('like')) return this.#like(left)
    if (this.#word('in')) {
      this.#need('(')
      const values = [this.#value()]
      while (this.#operator(',')) values.push(this.#value())
      this.#need(')')
      return `${left} in [${values.join(', ')}]`
    }
    if (!this.#word('between')) return undefined
    const low = this.#value()
    if (!this.#word('and')) throw new NoCelForm()
    return `(${left} >= ${low} && ${left} <= ${this.#value()})`
  }

  #like(left: string): string {
    const token = this.#tokens[this.#at++]
    if (token?.kind !== 'text' || token.value.includes('{$.')) throw new NoCelForm()
    const pattern = /^(%?)([^%_]*)(%?)$/.exec(token.value)
    if (pattern === null) throw new NoCelForm()
    const [, before, middle, behind] = pattern
    const text = quoted(middle as string)
    if (before === '' && behind === '') return `${left} == ${text}`
    if (before === '') return `${left}.startsWith(${text})`
    return behind === '' && middle !== '' ? `${left}.endsWith(${text})` : `${left}.contains(${text})`
  }

  #value(): string {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw new NoCelForm()
    if (token.kind === 'text') return interpolated(token.value)
    if (token.kind === 'number' || token.kind === 'reference') return token.text
    if (token.kind === 'operator') throw new NoCelForm()
    const word = token.text.toLowerCase()
    if (['true', 'false', 'null'].includes(word)) return word
    if (!Object.hasOwn(FUNCTIONS, word)) throw new NoCelForm()
    this.#need('(')
    const argument = this.#value()
    this.#need(')')
    return (FUNCTIONS[word] as (argument: string) => string)(argument)
  }

  #word(word: string): boolean {
    const token = this.#tokens[this.#at]
    const found = token?.kind === 'word' && token.text.toLowerCase() === word
    if (found) this.#at += 1
    return found
  }

  #operator(sign: string): boolean {
    const token = this.#tokens[this.#at]
    const found = token?.kind === 'operator' && token.text === sign
    if (found) this.#at += 1
    return found
  }

  #need(sign: string): void {
    if (!this.#operator(sign)) throw new NoCelForm()
  }
}

function bracketed(part: string): string {
  return part.includes(' || ') && !part.startsWith('(') ? `(${part})` : part
}

/** The original puts values into quoted texts; in CEL they are joined, or stand alone (W-38). */
function interpolated(text: string): string {
  const parts = text.split(/(\{\$\.[^}]*\})/).filter((part) => part !== '')
  const [first] = parts
  if (parts.length === 1 && first?.startsWith('{$.') === true) return first
  if (!parts.some((part) => part.startsWith('{$.'))) return quoted(text)
  return `(${parts.map((part) => (part.startsWith('{$.') ? `string(${part})` : quoted(part))).join(' + ')})`
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
