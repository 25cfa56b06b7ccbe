const REFUSED: unique symbol = Symbol.for('sluice.tool-refusal') as never

/** What {@link refuse} makes: the result of a handler that says no. */
export interface ToolRefusal {
  /** What the model reads. */
  readonly text: string
}

/**
 * Marks the result of a handler as a business refusal (G-40): the model reads the text like any other result, the run goes
 * on, and the call is on record as `refused`. Return it; it is no error, and no stop.
 */
export function refuse(text: string): ToolRefusal {
  const refusal = { text: String(text) }
  Object.defineProperty(refusal, REFUSED, { value: true })
  return Object.freeze(refusal)
}

/** True for what {@link refuse} made, also in another copy of the package. */
export function isToolRefusal(value: unknown): value is ToolRefusal {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, REFUSED)
}
