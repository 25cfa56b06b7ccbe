import { Pause } from '../errors/answers.js'
import { Interrupt } from '../engine/interrupt.js'
import { boundText } from '../internal/bounded-text.js'
import { digest } from '../internal/digest.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { idsOf } from './admit-call.js'
import type { CallScope } from './call-scope.js'
import type { Effect } from './effect.js'
import { RESULT_TEXT } from './round-call.js'
import type { CallResult, RoundCall } from './round-call.js'
import { closeToolEffect, takeAskings, tellResult } from './run-tool.js'

const BY = Object.freeze({ plugin: 'sluice', point: 'handler' })

/**
 * The begin of a handler is in the journal and its result is not: whether it took effect is not known. `repeat` decides;
 * `never` needs a human (`EFFECT_UNKNOWN`): approve runs it again under the same key, deny gives the note as its result.
 * Returns true where the call has its result and is not to be run.
 */
export async function afterLostBegin(call: CallScope, entry: RoundCall): Promise<boolean> {
  if (entry.tool?.agent !== null || entry.tool.repeat !== 'never') return false
  const effect = entry.effect as Effect
  const decision = call.tree.decisions.get(effect.facts.effectId)
  if (decision?.decision === 'approve') return false
  if (decision?.decision === 'deny') {
    await denied(call, entry, effect, decision.note)
    return true
  }
  await askHuman(call, entry, effect)
  throw new Interrupt('the outcome of a tool call is not known')
}

async function denied(call: CallScope, entry: RoundCall, effect: Effect, note: string | null): Promise<void> {
  const text = note === null ? RESULT_TEXT.unknown : boundText(note, call.tree.limits.toolResultBytes, 'bytes').text
  const result: CallResult = { status: 'unknown', text }
  entry.result = await call.steps.branch(entry.name, async (steps) => {
    takeAskings(effect, (await steps.begin('call', null as JsonValue)) as JsonObject | null)
    return steps.step('call', () => result)
  })
  await closeToolEffect(call, entry, effect, { outcome: 'unknown', sent: 'unknown' }).told
  // its `tool_call` was told when it began
  await tellResult(call, entry)
}

async function askHuman(call: CallScope, entry: RoundCall, effect: Effect): Promise<void> {
  call.tree.pending.push({
    effectId: effect.facts.effectId,
    executionId: effect.facts.executionId ?? '',
    agentCode: effect.facts.agentCode ?? '',
    toolCode: entry.part.toolName,
    callId: entry.part.toolCallId,
    argsDigest: entry.copy === undefined ? '' : digest(entry.copy as JsonValue),
    plugin: BY.plugin,
    code: 'EFFECT_UNKNOWN',
    details: null,
    expiresAt: null,
    decision: null,
  })
  const stop = { answer: 'paused' as const, error: new Pause('EFFECT_UNKNOWN'), by: BY }
  await call.tree.tellGateStop(stop, null, idsOf(effect.facts))
}
