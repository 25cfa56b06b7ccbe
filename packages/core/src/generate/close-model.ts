import { ProviderError } from '../errors/provider-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import { addUsage, USAGE_NOT_REPORTED } from '../messages/usage.js'
import type { RateLimitHeaders } from '../messages/rate-limit-headers.js'
import type { Usage } from '../messages/usage.js'
import type { ModelReply } from '../providers/model-provider.js'
import type { CallScope } from './call-scope.js'
import { ModelClosingContext } from './closing-contexts.js'
import { closeEffect } from './effect.js'
import { emit } from './emit.js'
import type { Effect, Ending } from './effect.js'
import type { ModelFacts } from './effect-contexts.js'
import type { Settled, WatchResult } from './open-effect.js'

/** Adds the usage of one attempt to its call, its run and its tree. */
export function countUsage(call: CallScope, usage: Usage): void {
  call.usage = addUsage(call.usage, usage)
  call.run.addUsage(usage)
}

/** Closes the effect, then tells `onStop` with its receipt. */
export async function tellStop(
  call: CallScope,
  effect: Effect,
  facts: ModelFacts,
  stop: GateStop,
  ending: Ending,
): Promise<void> {
  const { receipt, told } = closeModel(call, effect, facts, ending, undefined)
  await told
  const ids = {
    effectId: effect.facts.effectId,
    attempt: effect.facts.attempt,
    executionId: effect.facts.executionId,
    agentCode: effect.facts.agentCode,
    sessionId: effect.facts.sessionId,
  }
  await call.tree.tellGateStop(stop, receipt, ids)
}

/** Tells a stream that the deltas of a reply are not to be shown: a gate stopped or refused it. */
export function tellRetracted(call: CallScope, stop: GateStop): void {
  void emit(call, 'retracted', { code: stop.error?.code ?? 'RUN_ABORTED', plugin: stop.by.plugin })
}

/** `whileInFlight` stopped the run while the reply still arrived. */
async function closeWatched(call: CallScope, effect: Effect, facts: ModelFacts, stop: GateStop): Promise<void> {
  const error = call.tree.endByGate(stop)
  const { receipt, told } = closeModel(call, effect, facts, { outcome: 'stopped', sent: 'yes', error }, undefined)
  await told
  const ids = {
    effectId: effect.facts.effectId,
    attempt: effect.facts.attempt,
    executionId: effect.facts.executionId,
    agentCode: effect.facts.agentCode,
    sessionId: effect.facts.sessionId,
  }
  await call.tree.tellGateStop(stop, receipt, ids)
}

/** A request that failed, was aborted or abandoned: what it may have cost is counted, never as zero. */
export async function closeFailed(
  call: CallScope,
  effect: Effect,
  facts: ModelFacts,
  settled: Settled<ModelReply> | undefined,
  watch: WatchResult,
  error: unknown,
  seen: Usage | undefined,
): Promise<void> {
  const provider = ProviderError.isInstance(error) ? error : undefined
  const sent = settled?.kind === 'not_started' ? 'no' : (provider?.sent ?? 'unknown')
  const usage = provider?.delivered?.usage ?? seen
  if (sent !== 'no') countUsage(call, usage ?? USAGE_NOT_REPORTED)
  if (watch.stop !== undefined) {
    await closeWatched(call, effect, facts, watch.stop)
    return
  }
  const outcome = settled?.kind === 'abandoned' ? 'unknown' : call.run.stops.stopped ? 'aborted' : 'error'
  await closeModel(call, effect, facts, { outcome, sent, error }, undefined, usage).told
}

/** Closes a model call with what is known of its reply. */
export function closeModel(
  call: CallScope,
  effect: Effect,
  facts: ModelFacts,
  ending: Ending,
  reply: ModelReply | undefined,
  usage = reply?.usage,
) {
  return closeEffect(
    call,
    effect,
    ending,
    call.hookSet.observers.afterModelCall,
    (closed) =>
      new ModelClosingContext(effect.facts, closed, facts, reply, usage, reply?.rateLimit ?? rateLimitOf(ending.error)),
  )
}

/** A refused or failed answer has headers too, and "no room" is what they say most of all. */
function rateLimitOf(error: unknown): RateLimitHeaders | undefined {
  return ProviderError.isInstance(error) ? error.rateLimit : undefined
}
