/** Kinds of source that untrusted text can come from. */
export type LabelKind = 'tool' | 'hosted' | 'mcp' | 'input' | 'memory' | 'delegate'

/** Names one source of untrusted text: `{ kind: 'tool', source: 'web_fetch' }`. */
export interface Label {
  readonly kind: LabelKind
  readonly source: string
}

const NONE: readonly Label[] = Object.freeze([])

/** The union of two label sets, in order of first appearance; returns one of them unchanged where it holds the other. */
export function unionLabels(left: readonly Label[] | undefined, right: readonly Label[] | undefined): readonly Label[] {
  if (right === undefined || right.length === 0) return left ?? NONE
  if (left === undefined || left.length === 0)
    return Object.isFrozen(right) ? right : Object.freeze(right.map((label) => Object.freeze({ ...label })))
  let union: Label[] | undefined
  for (const label of right) {
    const known = (union ?? left).some((other) => other.kind === label.kind && other.source === label.source)
    if (!known) {
      union ??= [...left]
      union.push(label)
    }
  }
  return union === undefined ? left : Object.freeze(union)
}
