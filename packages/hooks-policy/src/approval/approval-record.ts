import type { DocumentKey, JsonObject, JsonValue } from '@sluice/core'
import { z } from 'zod'
import { sameSeal, sealOf } from './approval-digest.js'

/** Where an approval stands. It never goes back, but for a use of a call that then did not run. */
export type ApprovalState = 'pending' | 'granted' | 'denied' | 'expired' | 'consumed'

/** What a human answered, and when by the clock of the runtime that took the answer. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny'
  readonly by: string
  readonly note: string | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** One approval as it is stored, one for each call that a human was asked about. Times are of the store, in milliseconds. */
export interface ApprovalRecord {
  readonly state: ApprovalState
  readonly rootExecutionId: string
  readonly effectId: string
  /** Which question of this call it is, from 1. */
  readonly ask: number
  readonly askedAt: number
  readonly expiresAt: number
  /** What it is bound to, part by part; what could hold personal data or be long, as a digest. */
  readonly binding: Readonly<Record<string, string>>
  /** Digest of what the approver was shown. */
  readonly shown: string
  readonly decision: ApprovalDecision | null
  /** Digests of answers to earlier questions of this call, which count no more. */
  readonly used: readonly string[]
  /** The attempt of the call that it was used for. */
  readonly consumed: { readonly attempt: number; readonly at: number } | null
}

const decisionSchema = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  by: z.string(),
  note: z.string().nullable(),
  at: z.number(),
})

const recordSchema = z.strictObject({
  state: z.enum(['pending', 'granted', 'denied', 'expired', 'consumed']),
  rootExecutionId: z.string(),
  effectId: z.string(),
  ask: z.number().int().min(1),
  askedAt: z.number(),
  expiresAt: z.number(),
  binding: z.record(z.string(), z.string()),
  shown: z.string(),
  decision: decisionSchema.nullable(),
  used: z.array(z.string()),
  consumed: z.strictObject({ attempt: z.number().int(), at: z.number() }).nullable(),
})
const storedSchema = z.strictObject({ record: recordSchema, seal: z.string().nullable() })

/** Key of an approval. */
export function approvalKey(rootExecutionId: string, effectId: string): DocumentKey {
  return ['approval', rootExecutionId, effectId]
}

/** Key of the number of questions of a run. */
export function asksKey(rootExecutionId: string): DocumentKey {
  return ['asks', rootExecutionId]
}

/** The document of a record; sealed where there is a key. */
export function toDocument(record: ApprovalRecord, key: string | undefined): JsonObject {
  const json = record as unknown as JsonObject
  return { record: json, seal: key === undefined ? null : sealOf(key, json) }
}

/** The record of a document. `'forged'`: something else stands there, of another call, or without its seal. */
export function fromDocument(
  value: JsonValue | undefined,
  effectId: string,
  key: string | undefined,
): ApprovalRecord | 'absent' | 'forged' {
  if (value === undefined) return 'absent'
  const parsed = storedSchema.safeParse(value)
  if (!parsed.success) return 'forged'
  const { record, seal } = parsed.data
  if (record.effectId !== effectId) return 'forged'
  if (key !== undefined && (seal === null || !sameSeal(seal, sealOf(key, record as unknown as JsonObject))))
    return 'forged'
  return record
}
