const MAX_SHOWN = 120

/** Gathers the faults of a definition, each as `place: what is wrong`. */
export class FaultList {
  readonly #found: string[] = []

  add(place: string, text: string): void {
    this.#found.push(`${place}: ${text}`)
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

/** A text of a definition as a message may hold it: quoted, escaped, bounded. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text).replaceAll('\u007f', '\\u007f')
}
