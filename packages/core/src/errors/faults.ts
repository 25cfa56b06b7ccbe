import { escapeControl } from '../internal/escape-text.js'
import type { ErrorCode } from './error-codes.js'
import { SluiceError } from './sluice-error.js'

const MAX_LISTED = 20

/** A thing and its name, for an error: `Tool 'ap_get_invoice'`; `Tool without a code` where it has none. */
export function named(kind: string, name: unknown): string {
  return typeof name === 'string' ? `${kind} '${escapeControl(name, 100)}'` : `${kind} without a code`
}

/** The faults of one configuration, gathered so that all of them are told at once. */
export class Faults {
  readonly #found: string[] = []

  /** Notes one fault. `place` is the path or key (shown escaped and bounded), `text` says what is wrong and what fits. */
  add(place: string, text: string): void {
    this.#found.push(`${escapeControl(place, 120)}: ${text}`)
  }

  /** Notes a fault that names its place itself. */
  addLine(fault: string): void {
    this.#found.push(escapeControl(fault, 1000))
  }

  /** Notes every key of `options` that is not one of `known`: a misspelt option must not be silence. The last one lists what there is. */
  addUnknown(options: Readonly<Record<string, unknown>>, known: readonly string[]): void {
    const unknown = Object.keys(options).filter((key) => !known.includes(key))
    unknown.forEach((key, index) => {
      const last = index === unknown.length - 1 || index === MAX_LISTED - 1
      this.add(key, last ? `is not an option; options are ${known.join(', ')}` : 'is not an option')
    })
  }

  get list(): readonly string[] {
    return this.#found
  }

  /** Throws where a fault was noted: one line per fault below `what`, and all of them in `details.faults`. */
  throwIfAny(what: string, options: { readonly code?: ErrorCode; readonly reason?: string } = {}): void {
    if (this.#found.length === 0) return
    const listed = this.#found.slice(0, MAX_LISTED)
    const more = this.#found.length - listed.length
    const lines = more > 0 ? [...listed, `and ${more} more`] : listed
    throw new SluiceError(
      options.code ?? 'INVALID_CONFIG',
      `${what}:\n${lines.map((line) => `- ${line}`).join('\n')}`,
      {
        details: { faults: listed, count: this.#found.length },
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      },
    )
  }
}
