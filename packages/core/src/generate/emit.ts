import type { EventTypeName, RunEvent } from '../events/run-event.js'
import { FatalCallback } from '../events/event-hub.js'
import { noteObserverError, observe } from '../hooks/observe.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { isThenable } from '../internal/json.js'
import type { JsonObject } from '../internal/json.js'
import type { CallScope } from './call-scope.js'

/** Types that only a stream gets, so that the callback's five stay exact (E-8). */
const STREAM_ONLY: ReadonlySet<EventTypeName> = new Set<EventTypeName>([
  'assistant_text_delta',
  'assistant_reasoning_delta',
  'tool_call_delta',
  'receipt',
  'retracted',
  'run_paused',
  'run_ended',
])

const CALLBACK = 'event callback'
const MISSES_ALLOWED = 3

/** True where somebody listens, so that a payload has to be made at all. */
export function listening(call: CallScope, type: EventTypeName): boolean {
  if (call.run.sink !== undefined) return true
  return !STREAM_ONLY.has(type) && (call.parts.events.callback !== null || call.hookSet.observers.onEvent.length > 0)
}

/**
 * Sends one event to the stream, the callback and the observers of `onEvent`. `data` has to be a fresh object of JSON data
 * and is frozen here, unless it arrives frozen: then it has to be frozen all the way. Returns a promise only where an observer or a callback is asynchronous; it rejects only for a fatal
 * callback, with the handler's own error.
 */
export function emit(call: CallScope, type: EventTypeName, data: JsonObject): Promise<void> | undefined {
  if (!listening(call, type)) return undefined
  // what stands under a type is held by the callers
  const event = Object.freeze({
    type,
    requestId: call.requestId,
    sessionId: call.run.facts.sessionId,
    executionId: call.run.facts.executionId,
    agentCode: call.run.facts.agentCode,
    depth: call.run.facts.depth,
    seq: ++call.tree.seq,
    at: call.clock.now(),
    data: Object.isFrozen(data) ? data : deepFreeze(data),
  }) as unknown as RunEvent
  call.run.sink?.emit(event)
  if (STREAM_ONLY.has(type)) return undefined
  // observers first: a fatal callback must not hide the event from them
  const observed =
    call.hookSet.observers.onEvent.length === 0
      ? undefined
      : observe(call.tree.observing, call.hookSet.observers.onEvent, event, false)
  const called = callBack(call, event)
  if (called === undefined) return observed
  return observed === undefined ? called : Promise.all([called, observed]).then(() => undefined)
}

function callBack(call: CallScope, event: RunEvent): Promise<void> | undefined {
  const { events } = call.parts
  const callback = events.callback
  if (callback === null) return undefined
  try {
    const returned: unknown = callback(event)
    if (!isThenable(returned)) return undefined
    return awaitCallback(call, returned)
  } catch (error) {
    return failed(call, error)
  }
}

/** An asynchronous callback is awaited under the deadline of observers, until the run is stopped, and after three misses no more. */
function awaitCallback(call: CallScope, returned: PromiseLike<unknown>): Promise<void> | undefined {
  const settled = Promise.resolve(returned).then(
    () => undefined,
    (error: unknown) => failed(call, error),
  )
  const { misses } = call.tree.observing
  if ((misses.get(CALLBACK) ?? 0) >= MISSES_ALLOWED) {
    settled.catch(() => undefined)
    return undefined
  }
  return new Promise((resolve, reject) => {
    const deadline = call.parts.deadlines.add(call.parts.timeouts.observerTimeoutMs, call.clock.monotonic(), () => {
      call.parts.health.late += 1
      misses.set(CALLBACK, (misses.get(CALLBACK) ?? 0) + 1)
      done()
    })
    const done = (): void => {
      call.parts.deadlines.remove(deadline)
      call.run.stops.unlisten(done)
      resolve()
    }
    settled.then(done, (error: unknown) => {
      reject(error as Error)
      done()
    })
    call.run.stops.listen(done)
  })
}

function failed(call: CallScope, error: unknown): undefined {
  noteObserverError(call.parts, CALLBACK, 'events', error)
  if (call.parts.events.fatal) throw (call.tree.fatal = new FatalCallback(error))
  return undefined
}
