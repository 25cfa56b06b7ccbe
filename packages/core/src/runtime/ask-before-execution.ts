import type { Steps } from '../engine/engine.js'
import { CallScope } from '../generate/call-scope.js'
import { askPoint, Effect, receiptOf, settleGates } from '../generate/effect.js'
import { ExecutionGateContext } from '../generate/effect-contexts.js'
import { beginRecord } from '../generate/model-call.js'
import type { RunScope } from '../generate/run-scope.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Asking, Receipt } from '../hooks/receipt.js'
import type { JsonValue } from '../internal/json.js'
import { noteStore } from './finish-run.js'
import { writeReceipts } from './write-receipts.js'

/**
 * Asks `beforeExecution` of a top-level run. Throws where it was stopped: then `onStop` has been told, the receipt stands in
 * the store under the root id, and nothing else was written. A resumed run is asked again, with the same effect id.
 */
export async function askBeforeExecution(run: RunScope, steps: Steps): Promise<Effect> {
  const { tree } = run
  const call = new CallScope(run, {
    requestId: null,
    path: '',
    steps,
    hookSet: run.options.hookSet,
    gatePoints: run.options.gatePoints,
    main: false,
  })
  const effectId = call.effectId('execution')
  const resumed = steps.recorded('execution') !== 'nothing'
  const recorded = resumed
    ? ((await steps.begin('execution', null as JsonValue)) as unknown as {
        attempt: number
        askings: readonly Asking[]
      })
    : undefined
  const attempt = tree.attemptOf(effectId, recorded?.attempt ?? 0)
  const effect = new Effect(
    'execution',
    { ...call.facts(effectId, attempt), executionId: null },
    run.facts.agentCode ?? '',
    call.clock.now(),
  )
  if (recorded !== undefined) effect.askings.push(...recorded.askings)
  tree.stateOpen = true
  const taps = run.options.hookSet.gates.beforeExecution
  const asked = settleGates(call, effect, (gates) =>
    askPoint(call, effect, 'beforeExecution', taps, gates, (state) => new ExecutionGateContext(effect.facts, state)),
  )
  const stop = (await asked) ?? (tree.stop === undefined ? undefined : STOPPED_MEANWHILE)
  if (stop !== undefined) {
    const error = tree.endByGate(stop)
    await tree.windUp()
    const receipt = receiptOf(
      effect,
      { outcome: stop.answer === 'aborted' ? 'aborted' : 'stopped', sent: 'no' },
      tree.options.tenant,
    )
    tree.addReceipt(receipt)
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
  if (!resumed) {
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

/** The receipt of a run's own gates, closed at its end. */
export function closeExecution(run: RunScope, effect: Effect, outcome: Receipt['outcome']): Receipt {
  const receipt = receiptOf(effect, { outcome, sent: 'yes' }, run.tree.options.tenant)
  run.tree.addReceipt(receipt)
  return receipt
}
