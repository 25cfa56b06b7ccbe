import type { EventTypeName } from '../events/run-event.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject } from '../internal/json.js'
import type { RunScope } from './run-scope.js'

/** Sends an event of a run itself (`run_paused`, `run_ended`) to its stream. */
export function emitRun(run: RunScope, type: EventTypeName, data: JsonObject): void {
  const { tree, facts } = run
  tree.options.sink?.emit(
    Object.freeze({
      type,
      requestId: null,
      sessionId: facts.sessionId,
      executionId: facts.executionId,
      agentCode: facts.agentCode,
      depth: facts.depth,
      seq: ++tree.seq,
      at: tree.parts.clock.now(),
      data: deepFreeze(data),
    }),
  )
}
