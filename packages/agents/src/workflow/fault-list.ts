const MAX_SHOWN = 120
const MAX_FAULT = 1_000

/** Gathers the faults of a definition, each as `place: what is wrong`. */
export class FaultList {
  readonly #found: string[] = []

  /** Parts of the definition may stand in it as they are: what does not print is shown escaped. */
  add(place: string, text: string): void {
    this.#found.push(printable(`${place}: ${text}`.slice(0, MAX_FAULT)))
  }

  /** Notes every key that is not known: a misspelt one must not be silence. */
  addUnknown(place: string, given: object, known: readonly string[]): void {
    for (const key of Object.keys(given)) {
      if (!known.includes(key)) this.add(place, `has the unknown key ${shown(key)}; known are ${known.join(', ')}`)
    }
  }

  get list(): readonly string[] {
    return this.#found
  }
}

function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text of a definition as a message may hold it: quoted, escaped, bounded. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text).replaceAll('\u007f', '\\u007f')
}
