import type { EventTypeName, RunEvent } from '../events/run-event.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject } from '../internal/json.js'
import type { RunScope } from './run-scope.js'

/** Sends an event of a run itself (`run_paused`, `run_ended`) to its own stream. */
export function emitRun(run: RunScope, type: EventTypeName, data: JsonObject): void {
  const { tree, facts } = run
  const top = run.options.parent === undefined
  const sink = top ? tree.options.sink : run.options.sink
  sink?.emit(
    Object.freeze({
      type,
      requestId: null,
      sessionId: facts.sessionId,
      executionId: facts.executionId,
      agentCode: facts.agentCode,
      depth: facts.depth,
      // the end of a nested run is told to its own stream alone, and must leave no gap in the one above
      seq: top ? ++tree.seq : tree.seq + 1,
      at: tree.parts.clock.now(),
      data: deepFreeze(data),
    }) as unknown as RunEvent,
  )
}
