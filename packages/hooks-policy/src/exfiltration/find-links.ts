/** A place in a text that a reader, or a program that shows it, could follow. */
export interface FoundLink {
  /** The text of it, at most 200 characters. */
  readonly text: string
  /** Lower case, in ASCII form; `null` where no host can be read out of it. */
  readonly host: string | null
}

/** The longest scheme that is looked at, in characters. */
const MAX_SCHEME = 20
const MAX_SHOWN = 200
/** The longest authority (user and host) that is looked at, in characters; no host is that long. */
const MAX_AUTHORITY = 4_096
const SCHEME_CHARACTER = /[a-z0-9+.-]/i
const ENDS_AUTHORITY = /[\s<>"/?#]/
/** What a sentence or Markdown may put directly behind an address. */
const BEHIND = /[\])}'`,.;:!?*_~|]+$/
/** Browsers take these into a host, people never write them into one: whoever does means to deceive. */
const ODD = /[()[\]{}'`,;!*~|^$&+="\\]/

/**
 * All links of a text: `scheme://host`, `//host`, `https:host`, `www.host`, with `\` read as `/` as browsers do, and whatever
 * stands around them (Markdown, HTML, code), also where they stand in the path or query of another. The time is proportional
 * to the length of the text.
 *
 * @see https://url.spec.whatwg.org/#url-parsing
 */
export function findLinks(text: string): readonly FoundLink[] {
  const flat = text.replaceAll('\\', '/').replace(/\/[\t\r\n]+(?=\/)/g, '/')
  const found: FoundLink[] = []
  let from = 0
  for (;;) {
    const start = nextStart(flat, from)
    if (start === undefined) return found
    const end = endOf(flat, start.rest)
    const host = end === start.rest ? undefined : hostOf(flat.slice(start.rest, end))
    if (host !== undefined && (start.explicit || host === null || /[.:]/.test(host)))
      found.push({ text: flat.slice(start.begin, Math.min(end, start.begin + MAX_SHOWN)), host })
    from = Math.max(end, start.rest, from + 1)
  }
}

interface Start {
  /** Where the link begins. */
  readonly begin: number
  /** Where the part behind scheme and slashes begins. */
  readonly rest: number
  /** Whether a scheme says that it is a link; two slashes alone may be a comment. */
  readonly explicit: boolean
}

/** The next place at or behind `from` where a link begins. */
function nextStart(text: string, from: number): Start | undefined {
  const finder = /\/\/|https?:|www\./gi
  finder.lastIndex = from
  const match = finder.exec(text)
  if (match === null) return undefined
  const at = match.index
  const sign = match[0].toLowerCase()
  if (sign === 'www.') return { begin: at, rest: at, explicit: true }
  const rest = skipSlashes(text, at + match[0].length)
  if (sign !== '//') return { begin: at, rest, explicit: true }
  const begin = schemeBegin(text, at, from)
  return { begin, rest, explicit: begin < at - 1 }
}

function schemeBegin(text: string, slashes: number, from: number): number {
  if (text[slashes - 1] !== ':') return slashes
  let begin = slashes - 1
  while (begin > from && slashes - begin <= MAX_SCHEME && SCHEME_CHARACTER.test(text[begin - 1] as string)) begin -= 1
  return begin
}

function skipSlashes(text: string, at: number): number {
  let index = at
  while (text[index] === '/') index += 1
  return index
}

function endOf(text: string, from: number): number {
  let end = from
  while (end < text.length && end - from < MAX_AUTHORITY && !ENDS_AUTHORITY.test(text[end] as string)) end += 1
  return end
}

/** The host of an authority as a browser reads it; `undefined` where there is nothing to follow. */
function hostOf(authority: string): string | null | undefined {
  const address = authority.replace(BEHIND, '')
  if (address === '') return undefined
  const host = address.slice(address.lastIndexOf('@') + 1)
  if (ODD.test(host)) return null
  try {
    const { hostname } = new URL(`https://${address}`)
    return hostname === '' ? null : hostname.replace(/\.$/, '')
  } catch {
    return null
  }
}
