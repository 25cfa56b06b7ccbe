import type { DocumentKey, JsonValue } from '@sluice/core'
import { z } from 'zod'

/** What a row of the switch is about: everything, one agent, one tool, one user (of any tenant) or one tenant. */
export type SwitchTarget =
  | 'all'
  | { readonly agent: string }
  | { readonly tool: string }
  | { readonly user: string }
  | { readonly tenant: string }

/** The kinds of target. */
export type SwitchKind = 'all' | 'agent' | 'tool' | 'user' | 'tenant'

/** A row as it is stored. Times are milliseconds since the epoch, of the store. */
export interface SwitchRow {
  /** True: everything that the row is about is stopped. */
  readonly on: boolean
  readonly who: string
  readonly reason: string
  /** When it was set. */
  readonly at: number
  /** From then on the row counts as off; `null`: never by itself. */
  readonly expiresAt: number | null
}

/** Stands where {@link SwitchRow} rows were ever prepared, and is never deleted: with it and without the row for all, all is off limits. */
export const MARKER_KEY: DocumentKey = Object.freeze(['marker'])
/** The key of the row for everything. */
export const ALL_KEY: DocumentKey = Object.freeze(['row', 'all'])

const rowSchema = z.strictObject({
  on: z.boolean(),
  who: z.string(),
  reason: z.string(),
  at: z.number(),
  expiresAt: z.number().nullable(),
})

/** Longest name of a target, in UTF-16 units. */
export const MAX_NAME = 1_000
const UNPAIRED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** True for a name that a row can stand for: every store takes it as a part of a key. */
export function isTargetName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= MAX_NAME && !UNPAIRED.test(name)
}

/** The key of a row. */
export function rowKey(kind: SwitchKind, name: string): DocumentKey {
  return kind === 'all' ? ALL_KEY : ['row', kind, name]
}

/** The row of a stored value; `'absent'` where there is none, `'unreadable'` where something else stands there. */
export function parseRow(value: JsonValue | undefined): SwitchRow | 'absent' | 'unreadable' {
  if (value === undefined) return 'absent'
  const parsed = rowSchema.safeParse(value)
  return parsed.success ? parsed.data : 'unreadable'
}
