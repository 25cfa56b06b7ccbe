import type { JsonValue } from '@sluice/core'
import { shown } from './fault-list.js'

/** A place in the state: `steps.review.notes[0]`. */
export interface Path {
  /** As it was written, without `{$.` and `}`. */
  readonly text: string
  /** A text reads a property of an object, a number an element of a list. The first one is a root. */
  readonly segments: readonly [root: string, ...(string | number)[]]
}

/** What a path leads to. */
export type Resolved = { readonly found: true; readonly value: JsonValue } | { readonly found: false }

/** Keys that reach a prototype where code reads or writes them carelessly (CASE-22). */
const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype']
const SEGMENT = /(?:^|\.)([^.[\]{}]+)|\[(\d{1,9})\]/y
const MAX_PATH = 1_000
const NOT_FOUND: Resolved = Object.freeze({ found: false })

/** True for a name that no output key, parameter or path may have. */
export function isReserved(name: string): boolean {
  return RESERVED.includes(name)
}

/**
 * Reads a path (W-8, W-9): segments with dots between them, `[n]` for the element of a list, counted from zero. Gives what is
 * wrong with it as a text.
 */
export function parsePath(text: string, roots: readonly string[]): Path | string {
  if (text.length > MAX_PATH) return `is longer than ${MAX_PATH} characters`
  const segments: (string | number)[] = []
  SEGMENT.lastIndex = 0
  let at = 0
  while (at < text.length) {
    SEGMENT.lastIndex = at
    const found = SEGMENT.exec(text)
    if (found === null)
      return `cannot be read at ${shown(text.slice(at, at + 20))}; a path looks like steps.review.notes[0]`
    const [whole, name, index] = found
    at += whole.length
    segments.push(name ?? Number(index))
  }
  const [root, ...below] = segments
  if (typeof root !== 'string') return 'is empty; a path looks like steps.review.notes[0]'
  if (!roots.includes(root)) return `begins with ${shown(root)}, which there is not; there are ${roots.join(', ')}`
  const reserved = below.find((segment) => typeof segment === 'string' && isReserved(segment))
  if (reserved !== undefined) return `has the segment ${shown(String(reserved))}, which no path may have`
  if (/\p{Cc}/u.test(text)) return 'has a control character'
  const blank = below.find((segment) => typeof segment === 'string' && segment.trim() !== segment)
  if (blank !== undefined) return `has blanks around the segment ${shown(String(blank))}`
  return Object.freeze({ text, segments: Object.freeze([root, ...below]) as Path['segments'] })
}

/** Follows a path through own properties of plain JSON data (W-10): texts have no fields, lists no length. */
export function resolvePath({ segments }: Path, state: { readonly [root: string]: JsonValue }): Resolved {
  let value: JsonValue = state
  for (const segment of segments) {
    const next = fieldOf(value, segment)
    if (next === undefined) return NOT_FOUND
    value = next
  }
  return { found: true, value }
}

function fieldOf(value: JsonValue, segment: string | number): JsonValue | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if (Array.isArray(value)) return typeof segment === 'number' ? (value as readonly JsonValue[])[segment] : undefined
  if (typeof segment === 'number' || !Object.hasOwn(value, segment)) return undefined
  return (value as { readonly [key: string]: JsonValue })[segment]
}
