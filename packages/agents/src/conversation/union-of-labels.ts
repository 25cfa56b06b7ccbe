import type { Label } from '@sluice/core'

/** Each label once, in the order in which they first came. */
export function unionOfLabels(lists: readonly (readonly Label[])[]): readonly Label[] {
  const found = new Map<string, Label>()
  for (const labels of lists) for (const label of labels) found.set(JSON.stringify([label.kind, label.source]), label)
  return [...found.values()]
}
