import { journalMismatch } from '../journal-mismatch.js'
import { systemClock } from '../../internal/clock.js'
import type { Clock } from '../../internal/clock.js'
import { createIds } from '../../internal/ids.js'
import type { Ids } from '../../internal/ids.js'
import type { Engine, StoredJournal } from '../engine.js'
import { SluiceError } from '../../errors/sluice-error.js'
import { InlineSteps } from './inline-steps.js'

/**
 * The engine of one process: it calls through and keeps the journal of each run in memory. At a pause the runtime stores the
 * journal with the execution; `run` with that journal replays it, in this or another process, up to the pause.
 */
export function inlineEngine(options: { readonly clock?: Clock; readonly ids?: Ids } = {}): Engine {
  const clock = options.clock ?? systemClock
  const ids = options.ids ?? createIds(() => clock.now())
  const running = new Map<string, InlineSteps>()
  return {
    id: 'inline',
    durable: false,
    run(executionId, body, journal) {
      if (journal !== undefined && journal.version !== 1) {
        throw journalMismatch(
          `The journal of run ${executionId} has the version ${String(journal.version)}; this engine reads version 1. Nothing was run.`,
          {
            hint: 'Resume it with the version of Sluice that stored it.',
          },
        )
      }
      const steps = new InlineSteps({ clock, ids, executionId }, '', journal?.entries ?? [])
      running.set(executionId, steps)
      return body(steps)
    },
    snapshot(executionId): StoredJournal {
      const steps = running.get(executionId)
      if (steps === undefined) throw new SluiceError('NOT_FOUND', `Run ${executionId} is not in flight on this engine.`)
      return { version: 1, entries: steps.snapshot() }
    },
    forget(executionId) {
      running.delete(executionId)
    },
  }
}
