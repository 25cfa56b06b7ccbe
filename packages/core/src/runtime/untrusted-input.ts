import { isPlainObject } from '../internal/json.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { unionLabels } from '../messages/label.js'
import type { Label } from '../messages/label.js'
import type { TextPart } from '../messages/message.js'

/** Values of an input that are text may be given as `untrusted(text, source)`: the run then carries the label of the source. */
export type OfferedInput<Input> = Input extends object
  ? { readonly [Key in keyof Input]: Input[Key] | (string extends Input[Key] ? TextPart : never) }
  : Input

/** An input as its schema and the prompts see it, and the labels of what was untrusted in it. */
export interface ReadInput {
  readonly input: JsonObject
  readonly labels: readonly Label[]
}

const NONE: readonly Label[] = Object.freeze([])

/** Takes the labels off the values of an input that `untrusted` made; any other input comes back as it is. */
export function readUntrusted(input: JsonObject): ReadInput {
  let copy: Record<string, JsonValue> | undefined
  let labels = NONE
  for (const key of Object.keys(input)) {
    const value = input[key]
    if (!isUntrusted(value)) continue
    copy ??= { ...input }
    copy[key] = value.text
    labels = unionLabels(labels, value.labels)
  }
  return { input: copy ?? input, labels }
}

function isUntrusted(value: unknown): value is TextPart & { readonly labels: readonly Label[] } {
  if (!isPlainObject(value) || value.type !== 'text' || typeof value.text !== 'string') return false
  const { labels } = value
  return Array.isArray(labels) && labels.length > 0 && labels.every(isLabel)
}

function isLabel(label: unknown): label is Label {
  return isPlainObject(label) && typeof label.kind === 'string' && typeof label.source === 'string'
}
