import type { Span } from './window.js'

/** A hold that stands. */
export interface OpenHold {
  readonly effectId: string
  readonly attempt: number
  /** Its window. */
  readonly start: number
  readonly end: number | null
  readonly amount: bigint
  /** Store time at which it was taken, milliseconds. */
  readonly at: number
}

/**
 * The holds of one bucket that stand, one line of JSON each, in one text. A bucket is read and written twice for each call, and
 * hundreds may stand in it: a text is not copied for that, and is searched faster than a list of objects is made.
 */
export class OpenHolds {
  #text: string
  #since: number | null

  /** `since`: none of them was taken before it. */
  constructor(text: string, since: number | null) {
    this.#text = text
    this.#since = since
  }

  get text(): string {
    return this.#text
  }

  /** None was taken before this time; `null` where none stands. */
  get since(): number | null {
    return this.#text === '' ? null : this.#since
  }

  add(hold: OpenHold): void {
    const since = this.since
    this.#since = since === null || hold.at < since ? hold.at : since
    this.#text += lineOf(hold)
  }

  has(effectId: string, attempt: number): boolean {
    return this.#find(effectId, attempt) !== -1
  }

  /** True where it was there. */
  remove(effectId: string, attempt: number): boolean {
    const from = this.#find(effectId, attempt)
    if (from === -1) return false
    this.#text = this.#text.slice(0, from) + this.#text.slice(this.#text.indexOf('\n', from) + 1)
    return true
  }

  /** Takes out all that were taken at a time or before it. */
  takeUntil(at: number): readonly OpenHold[] {
    if (this.since === null || this.since > at) return []
    const all = this.list()
    const left = all.filter((hold) => hold.at > at)
    this.#text = left.map(lineOf).join('')
    this.#since = left.reduce<number | null>(
      (since, hold) => (since === null || hold.at < since ? hold.at : since),
      null,
    )
    return all.filter((hold) => hold.at <= at)
  }

  /** Throws a `SyntaxError` or `TypeError` where the text is none of holds. */
  list(): readonly OpenHold[] {
    return this.#text.split('\n').slice(0, -1).map(readLine)
  }

  #find(effectId: string, attempt: number): number {
    const begin = `${JSON.stringify([effectId, attempt]).slice(0, -1)},`
    if (this.#text.startsWith(begin)) return 0
    const before = this.#text.indexOf(`\n${begin}`)
    return before === -1 ? -1 : before + 1
  }
}

/** JSON has no line breaks in a line, whatever is in the id of the effect. */
function lineOf({ effectId, attempt, start, end, amount, at }: OpenHold): string {
  return `${JSON.stringify([effectId, attempt, start, end, amount.toString(), at])}\n`
}

function readLine(line: string): OpenHold {
  const [effectId, attempt, start, end, amount, at] = JSON.parse(line) as readonly unknown[]
  return {
    effectId: effectId as string,
    attempt: readNumber(attempt),
    ...readSpan(start, end),
    amount: readDigits(amount),
    at: readNumber(at),
  }
}

/** `BigInt` takes more than was written here: `''` and `true` would be amounts. Throws a `TypeError`. */
export function readDigits(value: unknown): bigint {
  if (typeof value === 'string' && /^\d+$/.test(value)) return BigInt(value)
  throw new TypeError('an amount is no whole number')
}

/** Throws a `TypeError`. A clock may tell parts of a millisecond. */
export function readNumber(value: unknown): number {
  if (Number.isFinite(value)) return value as number
  throw new TypeError('a time or an attempt is no number')
}

/** Throws a `TypeError`. */
export function readSpan(start: unknown, end: unknown): Span {
  return { start: readNumber(start), end: end === null ? null : readNumber(end) }
}
