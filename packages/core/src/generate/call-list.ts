import type { ToolCallRecord } from '../errors/sluice-error.js'

/** A tool call that a plain call inside a handler or a gate made, and how many of the run's own calls stood before it. */
export interface InnerCall {
  readonly after: number
  readonly call: ToolCallRecord
}

/**
 * The tool calls of one execution in their order: its own, and those of plain calls that its handlers and gates made. A replay
 * comes to its own ones again, but runs no handler: what was made inside is taken from the pause, each at its place.
 */
export class CallList {
  readonly all: ToolCallRecord[] = []
  #inner: InnerCall[] | undefined
  #before: InnerCall[] | undefined
  #own = 0

  constructor(before: readonly InnerCall[] | undefined) {
    if (before !== undefined) this.#before = [...before]
  }

  /** A call of the run itself. */
  add(call: ToolCallRecord): void {
    if (this.#before !== undefined) this.#catchUp()
    this.all.push(call)
    this.#own += 1
  }

  /** Calls that were made inside a handler or a gate. */
  addInner(calls: readonly ToolCallRecord[]): void {
    if (calls.length === 0) return
    if (this.#before !== undefined) this.#catchUp()
    this.#inner ??= []
    for (const call of calls) {
      this.all.push(call)
      this.#inner.push({ after: this.#own, call })
    }
  }

  /** What a pause has to store; `undefined` where nothing was made inside. */
  get inner(): readonly InnerCall[] | undefined {
    return this.#inner
  }

  #catchUp(): void {
    const before = this.#before as InnerCall[]
    while (before.length > 0 && (before[0] as InnerCall).after <= this.#own) {
      const entry = before.shift() as InnerCall
      this.all.push(entry.call)
      this.#inner ??= []
      this.#inner.push(entry)
    }
    if (before.length === 0) this.#before = undefined
  }
}
