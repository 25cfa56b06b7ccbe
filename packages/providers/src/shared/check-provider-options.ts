import { SluiceError } from '@sluice/core'

/** How a client of an SDK is known. */
export interface ClientShape {
  is(value: object): boolean
  /** What it has none of, where it is none. */
  readonly lacks: string
}

const POSTS: ClientShape = {
  is: (value) => typeof (value as { post?: unknown }).post === 'function',
  lacks: '`post`',
}

/**
 * Refuses options of a provider that are not known, or not of their type, all at once. `words` are the options that are
 * one of a few words.
 * @throws INVALID_CONFIG
 */
export function checkProviderOptions(
  factory: string,
  options: object,
  known: readonly string[],
  words: Readonly<Record<string, readonly string[]>>,
  client: ClientShape = POSTS,
): void {
  if (options === null || typeof options !== 'object' || Array.isArray(options)) {
    // a key is the usual mistake: it must not be shown
    throw new SluiceError('INVALID_CONFIG', `${factory}() takes one object of options, or nothing.`, {
      hint: `A key is given as ${factory}({ apiKey }). Known options: ${known.join(', ')}.`,
      reason: 'provider.options',
    })
  }
  const faults: string[] = []
  for (const [name, value] of Object.entries(options)) {
    const problem = value === undefined ? undefined : problemOf(name, value, known, words, client)
    if (problem !== undefined) faults.push(`\`${name}\` ${problem}`)
  }
  if (faults.length === 0) return
  throw new SluiceError('INVALID_CONFIG', `The options of ${factory}() are not acceptable: ${faults.join('; ')}.`, {
    hint: `Known options: ${known.join(', ')}.`,
    reason: 'provider.options',
  })
}

function problemOf(
  name: string,
  value: unknown,
  known: readonly string[],
  words: Readonly<Record<string, readonly string[]>>,
  client: ClientShape,
): string | undefined {
  if (!known.includes(name)) return 'is not known'
  if (Object.hasOwn(words, name)) {
    return words[name]?.includes(value as string) ? undefined : `must be one of ${words[name]?.join(', ')}`
  }
  if (name === 'fetch') return typeof value === 'function' ? undefined : 'must be a function'
  if (name === 'client') {
    const fits = typeof value === 'object' && value !== null && client.is(value)
    return fits ? undefined : `must be a client of the SDK (it has no ${client.lacks})`
  }
  if (name === 'headers') return isHeaders(value) ? undefined : 'must be an object of strings'
  if (typeof value !== 'string' || value === '') return 'must be a string with something in it'
  if (name === 'id' && value.includes('/')) return 'must hold no slash: model references are split there'
  if (name === 'baseUrl' && !URL.canParse(value)) return 'must be a URL'
  return undefined
}

function isHeaders(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).every((header) => typeof header === 'string')
}
