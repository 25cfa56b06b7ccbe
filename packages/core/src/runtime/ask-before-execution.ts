import type { Steps } from '../engine/engine.js'
import { PassThroughSteps } from '../engine/pass-through-steps.js'
import { CallScope } from '../generate/call-scope.js'
import { askPoint, Effect, receiptOf, settleGates } from '../generate/effect.js'
import { ExecutionGateContext } from '../generate/effect-contexts.js'
import { emitRun } from '../generate/emit-run.js'
import { beginRecord } from '../generate/model-call.js'
import type { RunScope } from '../generate/run-scope.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Receipt, Sent } from '../hooks/receipt.js'
import { isThenable } from '../internal/json.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { noteStore } from './finish-run.js'
import type { AskedExecution, Resumed } from './resumed.js'
import { writeReceipts } from './write-receipts.js'

/**
 * Asks `beforeExecution` of a top-level run. Throws where it was stopped: then `onStop` has been told, the receipt stands in
 * the store under the root id, and nothing else was written. A resumed run is asked again, with the same effect id.
 */
export async function askBeforeExecution(run: RunScope, steps: Steps, resumed: Resumed | undefined): Promise<Effect> {
  const { tree } = run
  // before there is a record no context and no call inside a gate names an execution (H-17)
  const early = run.part({ facts: Object.freeze({ ...run.facts, executionId: null }) })
  const call = callOf(early, steps)
  const effectId = call.effectId('execution')
  if (resumed !== undefined) await steps.begin('execution', null as JsonValue)
  const attempt = tree.attemptOf(effectId, resumed?.execution.attempt ?? 0)
  const effect = executionEffect(call, attempt, resumed?.execution)
  tree.stateOpen = true
  const taps = run.options.hookSet.gates.beforeExecution
  const asked = settleGates(call, effect, (gates) =>
    askPoint(
      call,
      effect,
      'beforeExecution',
      taps,
      gates,
      (state) => new ExecutionGateContext(effect.facts, state, run.facts.runContext),
    ),
  )
  const stop = (isThenable(asked) ? await asked : asked) ?? (tree.stop === undefined ? undefined : STOPPED_MEANWHILE)
  run.takeOver(early)
  if (resumed !== undefined) resumed.execution = askedExecution(effect)
  if (stop !== undefined) {
    const error = tree.endByGate(stop)
    await tree.windUp()
    const receipt = receiptOf(
      effect,
      { outcome: stop.answer === 'aborted' ? 'aborted' : 'stopped', sent: 'no' },
      tree.options.tenant,
    )
    tree.addReceipt(receipt)
    emitRun(run, 'receipt', receipt as unknown as JsonObject)
    await tree.tellGateStop(stop, receipt, {
      effectId,
      attempt,
      executionId: null,
      agentCode: run.facts.agentCode,
      sessionId: run.facts.sessionId,
    })
    await writeReceipts(tree)?.catch((failure: unknown) => noteStore(tree, null, failure))
    throw error
  }
  tree.noteAttempt(effectId, attempt)
  if (resumed === undefined) {
    const begun = steps.begin('execution', beginRecord(call, effect))
    if (begun !== null) await begun
  }
  effect.begunAt = call.clock.monotonic()
  return effect
}

/** All gates had passed, and the run was stopped from outside before it began. */
const STOPPED_MEANWHILE: GateStop = Object.freeze({
  answer: 'aborted',
  error: undefined,
  by: Object.freeze({ plugin: 'sluice', point: 'beforeExecution' }),
})

function callOf(run: RunScope, steps: Steps): CallScope {
  return new CallScope(run, {
    requestId: null,
    path: '',
    steps,
    hookSet: run.options.hookSet,
    gatePoints: run.options.gatePoints,
    main: false,
  })
}

/** The effect of a run as a whole; with `before`, what was asked of it up to a pause stands in front. */
function executionEffect(call: CallScope, attempt: number, before: AskedExecution | undefined): Effect {
  const effect = new Effect(
    'execution',
    { ...call.facts(call.effectId('execution'), attempt), executionId: null },
    call.run.facts.agentCode ?? '',
    before?.at ?? call.clock.now(),
  )
  if (before !== undefined) effect.askings.push(...before.askings)
  return effect
}

/** What a pause keeps of the effect of a run. */
export function askedExecution(effect: Effect): AskedExecution {
  return { attempt: effect.facts.attempt, at: effect.at, askings: [...effect.askings] }
}

/** The effect of a paused run that somebody ends without carrying it on. */
export function pausedExecution(run: RunScope, asked: AskedExecution): Effect {
  const { clock, ids } = run.tree.parts
  return executionEffect(callOf(run, new PassThroughSteps('', clock, ids)), asked.attempt, asked)
}

/** The receipt of a run's own gates, closed at its end. */
export function closeExecution(
  run: RunScope,
  effect: Effect,
  outcome: Receipt['outcome'],
  sent: Sent = 'yes',
): Receipt {
  const receipt = receiptOf(effect, { outcome, sent }, run.tree.options.tenant)
  run.tree.addReceipt(receipt)
  emitRun(run, 'receipt', receipt as unknown as JsonObject)
  return receipt
}
