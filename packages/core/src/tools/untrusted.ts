import type { Label } from '../messages/label.js'
import { unionLabels } from '../messages/label.js'
import type { FilePart, TextPart } from '../messages/message.js'

/**
 * Marks a part of the input as text that did not come from the caller (a mail, a web page, an upload): it gets the label
 * `{ kind: 'input', source }`, which every reply, tool call and nested run that has seen it carries too. A string becomes
 * a text part. Labels that the part has stay.
 *
 * @param source a name for where it came from; default `input`
 */
export function untrusted(input: string | TextPart, source?: string): TextPart
export function untrusted(input: FilePart, source?: string): FilePart
export function untrusted(input: string | TextPart | FilePart, source = 'input'): TextPart | FilePart {
  const label: Label = Object.freeze({ kind: 'input', source })
  const part = typeof input === 'string' ? ({ type: 'text', text: input } as const) : input
  return Object.freeze({ ...part, labels: unionLabels(part.labels, Object.freeze([label])) })
}
