/** What one receipt says: one line per gate, one list per asking. */
export interface ReceiptAccount {
  readonly outcome: string
  readonly sent: string
  readonly askings: readonly (readonly string[])[]
}

/** Everything that can be told of a run from outside; the play fills in what happened, the oracle what has to. */
export interface Account {
  /** `completed`, `paused`, or the code and kind of what ended it. */
  readonly result: string
  /** Effects that wait for a human. */
  readonly pending: readonly string[]
  /** Each asking of a gate: effect, point, tap. */
  readonly asked: readonly string[]
  /** Requests that reached the provider and handlers that were entered. */
  readonly started: readonly string[]
  /** Closing calls and stops, as every plugin saw them. */
  readonly closings: readonly string[]
  readonly stops: readonly string[]
  readonly afterExecution: readonly string[]
  /** By effect and attempt. */
  readonly receipts: Readonly<Record<string, ReceiptAccount>>
  readonly counts: {
    readonly effects: number
    readonly asked: number
    readonly passed: number
    readonly stopped: number
  }
  readonly toolCalls: readonly string[]
  /** Events of the run in order; only where it was streamed. */
  readonly events: readonly string[] | undefined
}
