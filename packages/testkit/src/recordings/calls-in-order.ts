import { textOf } from './recorded-json.js'

/** Pairs results with calls where a recording has no ids: by their order. */
export class CallsInOrder {
  readonly #open: string[] = []
  #count = 0

  /** The id of a call: its own, else one by its number. */
  called(id: unknown): string {
    this.#count += 1
    const own = textOf(id) || `tool_call_${this.#count}`
    this.#open.push(own)
    return own
  }

  /** The id of the call that a result belongs to. */
  answered(id: unknown): string {
    const next = this.#open.shift() ?? ''
    return textOf(id) || next
  }
}
