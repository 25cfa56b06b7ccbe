import type { DocumentKey, Documents, JsonObject, JsonValue, StoreCall } from '@sluice/core'
import { effectKey, isPending, pendingKey, readAttempts, withAttempt } from './attempt.js'
import type { AttemptRecord } from './attempt.js'
import { readBucket, writeBucket } from './bucket.js'
import type { BudgetEvent, OverrunEvent } from './budget-event.js'
import { BucketStep } from './bucket-step.js'
import type { Bound } from './limit.js'
import { overrunKey, withOverrun } from './overrun.js'

/** What a step of the ledger gives back, with what is to be told. */
export interface Told<Answer> {
  readonly answer: Answer
  readonly events: readonly BudgetEvent[]
}

export interface StepRequest {
  readonly effectId: string
  readonly bounds: readonly Bound[]
  /** True where an attempt may be booked, and so be an overrun. */
  readonly closing: boolean
  /** Key of the record of an operator's change, which is written in the same step. */
  readonly change?: DocumentKey
}

/** What is done in a step; without an `attempt` nothing is written but what has lapsed. */
export interface StepResult<Answer> {
  readonly answer: Answer
  readonly attempt?: AttemptRecord
  /** Told besides what the buckets tell. */
  readonly events?: readonly BudgetEvent[]
  readonly change?: JsonObject
}

/**
 * One `transact` over the record of an effect and some buckets, with the documents by which the record is found while it is
 * pending and as an overrun. `work` may be called again and must keep nothing. `lost` gets what was decided last, for a
 * caller that is not told whether it was written.
 */
export function effectStep<Answer>(
  documents: Documents,
  { effectId, bounds, closing, change: changeKey }: StepRequest,
  work: (attempts: readonly AttemptRecord[], steps: readonly BucketStep[], at: number) => StepResult<Answer>,
  call?: StoreCall,
  lost?: { told?: Told<Answer> },
): Promise<Told<Answer>> {
  const extra = [...(closing ? [overrunKey(effectId)] : []), ...(changeKey === undefined ? [] : [changeKey])]
  const own: readonly DocumentKey[] = [effectKey(effectId), pendingKey(effectId), ...extra]
  return documents.transact<Told<Answer>>(
    [...own, ...bounds.map((bound) => bound.key)],
    (current, at) => {
      const attempts = readAttempts(current[0])
      const steps = bounds.map((bound, index) => new BucketStep(bound, readBucket(current[own.length + index]), at))
      const { answer, attempt, events = [], change } = work(attempts, steps, at)
      const next: (JsonValue | undefined)[] = [...current]
      if (attempt !== undefined) {
        const all = withAttempt(attempts, attempt)
        next[0] = { attempts: all as unknown as JsonValue }
        next[1] = all.some(isPending) ? (current[1] ?? { at }) : undefined
        const overrun = events.find((event): event is OverrunEvent => event.type === 'overrun')
        if (overrun !== undefined) next[2] = withOverrun(current[2], overrun, attempt)
        if (change !== undefined) next[own.length - 1] = change
      }
      const told = [...steps.flatMap((step) => step.events), ...events]
      steps.forEach((step, index) => {
        const isWritten = attempt === undefined ? step.events.length > 0 : step.touched
        if (isWritten) next[own.length + index] = writeBucket(step.bucket, at)
      })
      const result: Told<Answer> = { answer, events: told }
      if (lost !== undefined) lost.told = result
      return { next, result }
    },
    call,
  )
}
