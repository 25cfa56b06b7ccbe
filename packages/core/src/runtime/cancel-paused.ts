import { SluiceError } from '../errors/sluice-error.js'
import type { ExecutionRecord } from '../store/records.js'
import { endCancelled } from './end-cancelled.js'
import { errorColumns } from './failure.js'
import type { RuntimeFace } from './runtime-core.js'

/**
 * Ends a paused run as aborted: only one of a cancel and a resume gets it. Returns false where it was not paused any more.
 * Until all have been told its row is `running` with the failure in it: where this process dies in between, the next one finds
 * the run and ends it.
 */
export async function cancelPaused(face: RuntimeFace, record: ExecutionRecord, reason: string): Promise<boolean> {
  const { store, clock } = face.core.parts
  const held = face.slot.acquire()
  try {
    const error = new SluiceError('RUN_ABORTED', reason, { details: { rootExecutionId: record.id } })
    const at = clock.now()
    let got = false
    await store.executions.transition(record.id, (current) => {
      got = current.status === 'paused'
      const claimed = { status: 'running', failureKind: 'aborted', updatedAt: at } as const
      return got ? { ...claimed, ...errorColumns(error), pending: [], inFlight: [] } : undefined
    })
    if (got) await endCancelled(face.core.parts, held.set, record, error, false)
    return got
  } finally {
    held.release()
  }
}

/** Ends a run whose time to be decided about is over. Returns false for any other. */
export async function cancelExpired(face: RuntimeFace, executionId: string): Promise<boolean> {
  const { store, clock } = face.core.parts
  const record = await store.executions.get(executionId)
  if (record?.status !== 'paused' || !hasExpired(record, clock.now())) return false
  return cancelPaused(face, record, 'The run expired: nobody decided about it in time.')
}

/** An answer is missing, and no more can come. */
function hasExpired({ pending }: ExecutionRecord, now: number): boolean {
  const open = pending.filter((entry) => entry.decision === null)
  return open.length > 0 && open.every((entry) => entry.expiresAt !== null && entry.expiresAt <= now)
}
