import { currentFrame, runInFrame } from '../context/frame.js'
import type { Frame } from '../context/frame.js'
import type { OnStopContext } from '../hooks/hook-contexts.js'
import { observe } from '../hooks/observe.js'
import { withSignal } from '../hooks/with-signal.js'
import type { Receipt } from '../hooks/receipt.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { isPlainJson } from '../internal/json.js'
import { LazySignal } from '../internal/lazy-signal.js'
import { frozenReceipt } from './frozen-receipt.js'
import type { Tree, TreeStop } from './tree.js'

/** What an effect is known by to the observers of a stop. */
export interface StoppedIds {
  readonly effectId: string | null
  readonly attempt: number | null
  readonly executionId: string | null
  readonly agentCode: string | null
  readonly sessionId: string | null
}

/** What stopped, where and why. */
export type StopFields = Pick<OnStopContext, 'point' | 'plugin' | 'answer' | 'code' | 'reason' | 'details'>

/** A stop that no gate gave: a bound, a timeout, an abort. */
export function fieldsOfStop({ error, kind, status }: TreeStop): StopFields {
  return {
    point: 'run',
    plugin: null,
    answer: status === 'failed' ? (kind === 'limit' ? 'limit' : 'vetoed') : status,
    code: error.code,
    reason: error.message,
    details: error.details ?? null,
  }
}

/** Tells the observers of `onStop`; the end of the tree waits for them. Without `ids`, those of the run that executes. */
export function tellStop(
  tree: Tree,
  fields: StopFields,
  receipt: Receipt | null,
  ids: StoppedIds | null,
): Promise<void> | undefined {
  const taps = tree.heard.observers.onStop
  if (taps.length === 0) return undefined
  const inside = frameInside(tree)
  const run = (inside ?? tree.frame)?.run
  const stopped: Omit<OnStopContext, 'signal'> = {
    ...fields,
    details: isPlainJson(fields.details) ? deepFreeze(structuredClone(fields.details)) : null,
    effectId: ids?.effectId ?? null,
    attempt: ids?.attempt ?? null,
    executionId: ids?.executionId ?? (tree.stateOpen ? (run?.executionId ?? null) : null),
    rootExecutionId: tree.rootExecutionId,
    agentCode: ids?.agentCode ?? run?.agentCode ?? null,
    createdBy: tree.options.createdBy,
    sessionId: ids?.sessionId ?? run?.sessionId ?? null,
    tenant: tree.options.tenant,
    receipt: receipt === null ? null : frozenReceipt(receipt),
  }
  const late = new LazySignal()
  const context = withSignal(stopped, late)
  const tell = (): Promise<void> | undefined => observe(tree.observing, taps, context, true, late)
  // an abort or a deadline comes from anywhere, also from inside another run (CASE-27)
  const promise =
    inside === undefined ? tree.inPlace(tell) : inside === currentFrame() ? tell() : runInFrame(inside, tell)
  if (promise !== undefined) tree.background.push(promise)
  return promise
}

/** The innermost frame of this tree around the code that is running: none in a timer of another run, or in its handler. */
function frameInside(tree: Tree): Frame | undefined {
  let frame = currentFrame()
  while (frame !== undefined && frame.tree !== tree) frame = frame.outer
  return frame
}
