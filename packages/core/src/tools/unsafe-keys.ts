import { reachesPrototype } from '../context/text-rules.js'
import { escapeControl } from '../internal/escape-text.js'

const MAX_LISTED = 20

/** What a walk over freshly parsed JSON found. */
export interface ParsedShape {
  /** Keys of all objects together. */
  readonly keys: number
  /** True where a number was too large for a double and became infinite. */
  readonly infinite: boolean
  /** True where a key reaches a prototype, or `_ctx` stands at the top. */
  readonly unsafe: boolean
}

/** The key under which the run context is reserved; a model can neither set nor extend it. */
export const CONTEXT_KEY = '_ctx'

/** Walks parsed JSON once, without recursion. `reserved` is one more key that is unsafe at the top. */
export function inspectParsed(value: unknown, reserved?: string): ParsedShape {
  let keys = 0
  let infinite = false
  let unsafe = false
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const item = waiting.pop()
    if (typeof item === 'number') {
      if (!Number.isFinite(item)) infinite = true
    } else if (Array.isArray(item)) {
      for (const inner of item as unknown[]) if (mayHold(inner)) waiting.push(inner)
    } else if (item !== null && typeof item === 'object') {
      const names = Object.keys(item)
      keys += names.length
      for (const name of names) {
        if (reachesPrototype(name) || (item === value && name === reserved)) unsafe = true
        const inner = (item as Record<string, unknown>)[name]
        if (mayHold(inner)) waiting.push(inner)
      }
    }
  }
  return { keys, infinite, unsafe }
}

function mayHold(value: unknown): boolean {
  return (value !== null && typeof value === 'object') || (typeof value === 'number' && !Number.isFinite(value))
}

/**
 * Takes `__proto__`, `constructor` and `prototype` out of freshly parsed JSON at every level, and `reserved` at the top
 * (CASE-22). Changes the value in place and returns the paths of what it took, escaped and bounded; at most 20 are listed.
 */
export function dropUnsafeKeys(value: unknown, reserved?: string): readonly string[] {
  const dropped: string[] = []
  const waiting: { readonly item: unknown; readonly path: string }[] = [{ item: value, path: '' }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { item, path } = next
    if (item === null || typeof item !== 'object') continue
    for (const name of Object.keys(item)) {
      const place = path === '' ? escapeControl(name, 100) : escapeControl(`${path}.${name}`, 100)
      if (reachesPrototype(name) || (item === value && name === reserved)) {
        delete (item as Record<string, unknown>)[name]
        if (dropped.length < MAX_LISTED) dropped.push(place)
      } else {
        const inner = (item as Record<string, unknown>)[name]
        if (inner !== null && typeof inner === 'object') waiting.push({ item: inner, path: place })
      }
    }
  }
  return dropped
}
