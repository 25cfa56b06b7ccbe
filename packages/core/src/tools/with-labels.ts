import type { Label } from '../messages/label.js'
import { unionLabels } from '../messages/label.js'

const LABELLED: unique symbol = Symbol.for('sluice.labelled-result') as never

/** What {@link withLabels} makes: a result of a handler, and where it came from. */
export interface LabelledResult {
  readonly value: unknown
  readonly labels: readonly Label[]
}

/**
 * The result of a handler together with sources of untrusted text that only the handler knows: a file that another agent
 * wrote, one of several mail boxes. They are added to those of the tool and of the request; none can be taken away.
 */
export function withLabels(value: unknown, labels: readonly Label[]): LabelledResult {
  const result = { value, labels: Object.freeze([...unionLabels(labels.slice(0, 1), labels)]) }
  Object.defineProperty(result, LABELLED, { value: true })
  return Object.freeze(result)
}

/** True for what {@link withLabels} made, also in another copy of the package. */
export function isLabelledResult(value: unknown): value is LabelledResult {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, LABELLED)
}
