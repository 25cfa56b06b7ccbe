import { AsyncLocalStorage } from 'node:async_hooks'
import type { JsonValue } from '../internal/json.js'

/** What a tree keeps for its plugins while it is open. */
export interface TreeState {
  /** JSON per plugin key. */
  readonly state: Map<string, JsonValue>
  /** False before `beforeExecution` and after `afterExecution`. */
  stateOpen: boolean
}

/** Facts about the run that is executing, filled in when its record exists. */
export interface RunFacts {
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly executionId: string | null
  readonly parentExecutionId: string | null
  readonly rootExecutionId: string
  readonly depth: number
  readonly sessionId: string | null
  readonly createdBy: string | null
  readonly runContext: Readonly<Record<string, string | number | boolean>>
}

/**
 * Where code is executing: one frame per run, per `generateText` call, per gate and per handler, linked outward. Frames live
 * in one AsyncLocalStorage and are keyed by runtime, so that two runtimes never see each other's.
 */
export interface Frame {
  /** Identity of the runtime (shared by its forks). */
  readonly runtimeKey: object
  readonly outer: Frame | undefined
  readonly tree: TreeState
  /** The caller of the tree. */
  readonly caller: unknown
  /** `undefined` until the execution record exists. */
  run: RunFacts | undefined
  /** Id of the innermost `generateText` call. */
  requestId: string | undefined
  /** Set inside a gate: the point, and the effect that it guards. */
  readonly gate: { readonly point: string; readonly effectId: string } | undefined
  /** What the loop needs to nest a call below this frame; opaque here. */
  readonly scope: unknown
}

const frames = new AsyncLocalStorage<Frame | undefined>()

/** Runs `fn` inside `frame`; everything that it starts, timers and emitters included, stays inside. */
export function runInFrame<Arguments extends unknown[], Result>(
  frame: Frame | undefined,
  fn: (...args: Arguments) => Result,
  ...args: Arguments
): Result {
  return frames.run(frame, fn, ...args)
}

/** The innermost frame, of any runtime. */
export function currentFrame(): Frame | undefined {
  return frames.getStore()
}

/** The innermost frame of one runtime. */
export function frameOf(runtimeKey: object): Frame | undefined {
  for (let frame = frames.getStore(); frame !== undefined; frame = frame.outer) {
    if (frame.runtimeKey === runtimeKey) return frame
  }
  return undefined
}
