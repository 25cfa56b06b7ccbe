import { journalMismatch } from '../engine/journal-mismatch.js'
import { ProviderError } from '../errors/provider-error.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import { Veto } from '../errors/answers.js'
import { isThenable } from '../internal/json.js'
import type { JsonValue } from '../internal/json.js'
import { USAGE_NOT_REPORTED, addUsage } from '../messages/usage.js'
import type { ModelReply, ModelRequest } from '../providers/model-provider.js'
import { buildRequest, inputTokensAtMost } from './build-request.js'
import type { Landing } from './build-request.js'
import type { CallPlan, ModelTarget } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { closeFailed, closeModel, countUsage, tellRetracted, tellStop } from './close-model.js'
import { askPoint, Effect, reentered, settleGates } from './effect.js'
import { ModelGateContext } from './effect-contexts.js'
import type { ModelFacts } from './effect-contexts.js'
import { receiveReply } from './receive-reply.js'
import type { SeenOfReply } from './receive-reply.js'
import { runOpen } from './open-effect.js'
import type { Settled, WatchResult } from './open-effect.js'

/** A model call whose gates passed and whose reply arrived; not closed yet: `inspectReply` belongs to the same effect. */
export interface OpenReply {
  readonly kind: 'reply'
  readonly reply: ModelReply
  readonly target: ModelTarget
  /** The open effect; `undefined` on a replay, where nothing is asked or told again. */
  readonly effect: Effect | undefined
  readonly facts: ModelFacts
  /** Deltas were delivered while it arrived. */
  readonly delivered: boolean
  /** Set where `whileInFlight` stopped the run while it arrived. */
  readonly stop: GateStop | undefined
}

/** What a request to the model came to. */
export type ModelOutcome = OpenReply | { readonly kind: 'land'; readonly landing: Landing }

const NOTHING: readonly never[] = Object.freeze([])

/** State of one effect over its attempts. */
interface Attempting extends SeenOfReply {
  readonly name: string
  readonly round: number
  readonly landing: Landing | undefined
}

/**
 * One request to the model: a new effect whose gates are asked, over as many attempts as `retry` and `fallback` allow. Each
 * attempt passes the gates and is closed on its own; nothing is repeated after a delta was delivered.
 */
export async function callModel(
  call: CallScope,
  plan: CallPlan,
  round: number,
  landing: Landing | undefined,
): Promise<ModelOutcome> {
  const attempting: Attempting = { name: `m${++call.requests}`, round, landing, delivered: false, usage: undefined }
  let last: unknown
  for (let index = 0; index < plan.targets.length; index++) {
    const target = plan.targets[index] as ModelTarget
    for (let attempt = 1; attempt <= plan.settings.retry.attempts; attempt++) {
      // another provider is asked at once
      if (attempt > 1) {
        if (asksForTooLong(plan, last)) break
        await backOff(call, plan, last, attempt)
      }
      attempting.usage = undefined
      try {
        return await attemptModel(call, plan, target, attempting)
      } catch (error) {
        if (!ProviderError.isInstance(error) || !error.retryable || attempting.delivered || call.run.stops.stopped)
          throw error
        last = error
      }
    }
  }
  throw last
}

/** A provider that asks for a longer wait than is allowed would only refuse again: it is left alone. */
function asksForTooLong(plan: CallPlan, error: unknown): boolean {
  return ProviderError.isInstance(error) && (error.retryAfterMs ?? 0) > plan.settings.retry.maxBackoffMs
}

async function backOff(call: CallScope, plan: CallPlan, error: unknown, attempt: number): Promise<void> {
  const { backoffMs, maxBackoffMs } = plan.settings.retry
  const asked = ProviderError.isInstance(error) ? error.retryAfterMs : undefined
  // full jitter over the upper half, so that many runs that failed together do not come back together
  const doubled = Math.min(maxBackoffMs, backoffMs * 2 ** Math.max(0, attempt - 2))
  const ms = asked ?? doubled / 2 + Math.random() * (doubled / 2)
  const controller = new AbortController()
  const onStop = (): void => controller.abort()
  call.run.stops.listen(onStop)
  await call.steps.sleep(ms, controller.signal)
  call.run.stops.unlisten(onStop)
  call.run.check()
}

/** A call that a gate at `inspectReply` makes would come back to it: it is refused before anything is asked or sent. */
function refuseReentry(call: CallScope): void {
  if (call.gatePoints?.includes('inspectReply') === true && call.hookSet.gates.inspectReply.length > 0)
    throw reentered('inspectReply')
}

async function attemptModel(
  call: CallScope,
  plan: CallPlan,
  target: ModelTarget,
  attempting: Attempting,
): Promise<ModelOutcome> {
  const { steps, tree } = call
  const { name, landing } = attempting
  call.run.check()
  refuseReentry(call)
  if (steps.recorded(`${name}.land`) !== 'nothing') {
    const landed = (await steps.begin(`${name}.land`, null as JsonValue)) as { maxOutputTokens: number | null }
    call.run.landed = true
    return { kind: 'land', landing: { maxOutputTokens: landed.maxOutputTokens ?? undefined } }
  }
  const request = buildRequest(call, plan, target, landing)
  const facts = modelFacts(plan, target, request, attempting)
  const recorded = steps.recorded(name)
  const before = steps.attemptsBefore(name)
  if (recorded !== 'nothing') await steps.begin(name, null as JsonValue)
  if (recorded === 'done') return replayed(call, target, facts, name)
  tree.bounds.countModelCall()
  const effectId = call.effectId(name)
  const attempt = tree.attemptOf(effectId, before)
  const effect = new Effect(
    'model_call',
    call.facts(effectId, attempt),
    `${target.provider.id}/${target.model}`,
    call.clock.now(),
  )
  const asked = settleGates(call, effect, (gates) =>
    askPoint(
      call,
      effect,
      'beforeModelCall',
      call.hookSet.gates.beforeModelCall,
      gates,
      (state) => new ModelGateContext(effect.facts, state, facts),
    ),
  )
  const stop = isThenable(asked) ? await asked : asked
  if (stop !== undefined) return stopped(call, effect, facts, stop)
  tree.noteAttempt(effectId, attempt)
  const begun = steps.begin(name, beginRecord(call, effect))
  if (begun !== null) await begun
  const watch: WatchResult = { stop: undefined }
  const settled: { is: Settled<ModelReply> | undefined } = { is: undefined }
  try {
    const reply = await steps.step(name, async () => {
      const open = {
        kind: 'model_call' as const,
        provider: target.provider.id,
        model: target.model,
        toolCode: null,
        timeoutMs: undefined,
      }
      settled.is = await runOpen(call, effect, open, watch, ({ signal }) =>
        receiveReply(call, plan, target, request, signal, attempting),
      )
      return valueOf(call, settled.is, target)
    })
    countUsage(call, reply.usage)
    return { kind: 'reply', reply, target, effect, facts, delivered: attempting.delivered, stop: watch.stop }
  } catch (error) {
    if (watch.stop !== undefined && attempting.delivered) tellRetracted(call, watch.stop)
    if (!effect.closed) await closeFailed(call, effect, facts, settled.is, watch, error, attempting.usage)
    throw call.run.stops.stopped ? (tree.stop?.error ?? call.run.stops.reason) : error
  }
}

/** On a replay nothing is asked, told or counted twice: only what the reply adds up to. */
async function replayed(call: CallScope, target: ModelTarget, facts: ModelFacts, name: string): Promise<OpenReply> {
  try {
    const reply = await call.steps.step<ModelReply>(name, () => {
      throw journalMismatch(`The journal holds no reply for ${call.pathOf(name)}.`)
    })
    call.usage = addUsage(call.usage, reply.usage)
    return { kind: 'reply', reply, target, effect: undefined, facts, delivered: false, stop: undefined }
  } catch (error) {
    if (ProviderError.isInstance(error) && error.sent !== 'no')
      call.usage = addUsage(call.usage, error.delivered?.usage ?? USAGE_NOT_REPORTED)
    throw error
  }
}

function modelFacts(plan: CallPlan, target: ModelTarget, request: ModelRequest, attempting: Attempting): ModelFacts {
  let measured: number | null | undefined
  return {
    provider: target.provider.id,
    model: target.model,
    round: attempting.round,
    maxOutputTokens: request.maxOutputTokens,
    tools: attempting.landing === undefined ? plan.toolNames : NOTHING,
    hostedTools:
      attempting.landing === undefined
        ? Object.freeze(plan.hosted.filter((tool) => tool.provider === target.provider.id).map((tool) => tool.info))
        : NOTHING,
    landing: attempting.landing !== undefined,
    inputTokensAtMost: () => (measured === undefined ? (measured = inputTokensAtMost(target, request)) : measured),
  }
}

/** What `begin` records: the answers of the gates, and the states that plugins keep for the tree. */
export function beginRecord(call: CallScope, effect: Effect): JsonValue {
  const { attempt } = effect.facts
  return call.tree.state.size === 0
    ? { attempt, askings: effect.askings as unknown as JsonValue }
    : { attempt, askings: effect.askings as unknown as JsonValue, state: Object.fromEntries(call.tree.state) }
}

async function stopped(call: CallScope, effect: Effect, facts: ModelFacts, stop: GateStop): Promise<ModelOutcome> {
  if (stop.answer === 'landed' && !call.run.landed) {
    call.run.landed = true
    await closeModel(call, effect, facts, { outcome: 'not_run', sent: 'no' }, undefined).told
    await call.steps.begin(`m${call.requests}.land`, { maxOutputTokens: stop.error.maxOutputTokens ?? null })
    return { kind: 'land', landing: { maxOutputTokens: stop.error.maxOutputTokens } }
  }
  const last = stop.answer === 'landed' ? landedTwice(stop) : stop
  const error = call.tree.endByGate(last)
  await tellStop(call, effect, facts, last, {
    outcome: last.answer === 'aborted' ? 'aborted' : 'stopped',
    sent: 'no',
    error,
  })
  throw error
}

function landedTwice(stop: GateStop): GateStop {
  const error = new Veto(
    'LANDED_TWICE',
    `Plugin "${stop.by.plugin}" asked a run that is landing to land again (${stop.error?.code ?? ''}).`,
    undefined,
    { by: stop.by, cause: stop.error },
  )
  return { answer: 'vetoed', error, by: stop.by }
}

function valueOf(call: CallScope, settled: Settled<ModelReply>, target: ModelTarget): ModelReply {
  if (settled.kind === 'value') return settled.value
  if (settled.kind === 'error') {
    if (ProviderError.isInstance(settled.error)) throw freshProviderError(settled.error)
    if (SluiceError.isInstance(settled.error) || call.run.stops.stopped) throw settled.error
    throw new ProviderError(
      'PROVIDER_RESPONSE_ERROR',
      `The adapter of ${target.provider.id} failed: ${messageOf(settled.error)}`,
      { provider: target.provider.id, model: target.model, cause: settled.error },
    )
  }
  throw call.tree.stop?.error ?? call.run.stops.reason
}

/** An error of this attempt: an adapter may throw one object in several runs (CASE-27). */
function freshProviderError(error: ProviderError): ProviderError {
  const { provider, model, status, retryAfterMs, requestId, rateLimit, sent, retryable, details, delivered } = error
  return new ProviderError(error.code, error.message, {
    provider,
    sent,
    retryable,
    cause: error,
    ...(details === undefined ? {} : { details }),
    ...(model === undefined ? {} : { model }),
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(delivered === undefined ? {} : { partial: delivered }),
  })
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'something that cannot be shown'
  }
}
