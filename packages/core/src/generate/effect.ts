import type { Frame } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import { askGates } from '../hooks/ask-gates.js'
import { AskingState } from '../hooks/asking-context.js'
import type { AskingContext, EffectFacts } from '../hooks/asking-context.js'
import type { ErrorSnapshot } from '../hooks/hook-contexts.js'
import type { AskPoint } from '../hooks/hook-points.js'
import type { CompiledTap } from '../hooks/hook-set.js'
import { describeError, observe } from '../hooks/observe.js'
import type { Asking, EffectOutcome, GateReceipt, Receipt, Sent } from '../hooks/receipt.js'
import { boundText } from '../internal/bounded-text.js'
import { delay } from '../internal/clock.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { isPlainJson, isThenable } from '../internal/json.js'
import type { JsonObject, MaybePromise } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import type { CallScope } from './call-scope.js'
import type { Closed, ClosingContext } from './closing-contexts.js'
import { emit } from './emit.js'
import { frozenReceipt } from './frozen-receipt.js'
import type { NestScope } from './nest-scope.js'

/** One attempt of a guarded effect, from its first asking to its close. */
export class Effect {
  readonly kind: Receipt['effect']
  readonly facts: EffectFacts
  readonly subject: string
  readonly at: number
  readonly askings: Asking[] = []
  /** Elapsed-time reading at which it began; -1 before. */
  begunAt = -1
  /** Elapsed-time reading of its last pass. */
  passedAt = -1
  closed = false
  inFlightAskings = 0

  constructor(kind: Receipt['effect'], facts: EffectFacts, subject: string, at: number) {
    this.kind = kind
    this.facts = facts
    this.subject = subject
    this.at = at
  }
}

type Ask = (gates: GateReceipt[]) => MaybePromise<GateStop | undefined>

/**
 * Asks the gates of an effect until they settle: a `Wait` waits, within what the tree allows, and all are asked again.
 * What comes back is `undefined` (all passed in one asking) or the stop that is not a wait.
 */
export function settleGates(call: CallScope, effect: Effect, ask: Ask): MaybePromise<GateStop | undefined> {
  const stop = askOnce(call, effect, ask)
  if (stop === undefined) return passed(call, effect)
  if (!isThenable(stop)) return stop.answer === 'waited' ? waitAndAsk(call, effect, ask, stop) : stop
  return stop.then((settled) => {
    if (settled === undefined) return passed(call, effect)
    return settled.answer === 'waited' ? waitAndAsk(call, effect, ask, settled) : settled
  })
}

function askOnce(call: CallScope, effect: Effect, ask: Ask): MaybePromise<GateStop | undefined> {
  const gates: GateReceipt[] = []
  effect.askings.push({ at: effect.askings.length === 0 ? effect.at : call.clock.now(), gates })
  return ask(gates)
}

function passed(call: CallScope, effect: Effect): undefined {
  effect.passedAt = call.clock.monotonic()
  return undefined
}

async function waitAndAsk(call: CallScope, effect: Effect, ask: Ask, first: GateStop): Promise<GateStop | undefined> {
  let stop: GateStop | undefined = first
  while (stop?.answer === 'waited') {
    // too long for this run: then it is a veto (the loop turns a `waited` that comes back into one)
    if (!call.tree.bounds.spendWait(stop.error.ms)) return stop
    await waitOrStop(call, stop.error.ms)
    if (call.run.stops.stopped) return { answer: 'aborted', error: undefined, by: stop.by }
    stop = await askOnce(call, effect, ask)
  }
  return stop === undefined ? passed(call, effect) : stop
}

async function waitOrStop(call: CallScope, ms: number): Promise<void> {
  const controller = new AbortController()
  const onStop = (): void => controller.abort()
  call.run.stops.listen(onStop)
  await delay(call.clock, ms, controller.signal)
  call.run.stops.unlisten(onStop)
}

/**
 * Asks one point in a frame that marks it, so that what a gate starts is nested below it and cannot reach the point again.
 * `make` builds the frozen context for the state that the dispatcher keeps behind it.
 */
export function askPoint(
  call: CallScope,
  effect: Effect,
  point: AskPoint,
  taps: readonly CompiledTap[],
  gates: GateReceipt[],
  make: (state: AskingState) => AskingContext,
): MaybePromise<GateStop | undefined> {
  if (taps.length === 0) return undefined
  if (call.gatePoints !== undefined && call.gatePoints.includes(point)) throw reentered(point)
  const state = new AskingState()
  const context = make(state)
  const frame: Frame = {
    runtimeKey: call.parts.runtimeKey,
    outer: currentFrame(),
    tree: call.tree,
    caller: call.tree.options.caller,
    // before the record exists there is no execution context (H-17)
    run: effect.kind === 'execution' ? undefined : call.run.facts,
    requestId: call.requestId ?? undefined,
    gate: { point, effectId: effect.facts.effectId },
    scope: new GateScope(call, effect, point),
  }
  return runInFrame(frame, askGates, call.control, point, taps, context, state, gates)
}

/** The place of calls that a gate makes. Most make none, so nothing is put together before it is asked for. */
class GateScope implements NestScope {
  readonly run: NestScope['run']
  readonly point: string
  next = 0
  readonly #call: CallScope
  readonly #effect: Effect

  constructor(call: CallScope, effect: Effect, point: string) {
    this.run = call.run
    this.point = point
    this.#call = call
    this.#effect = effect
  }

  get path(): string {
    return `${this.#effect.facts.effectId.slice(this.#call.tree.rootExecutionId.length + 1)}/${this.point}`
  }

  get gatePoints(): readonly string[] {
    const { gatePoints } = this.#call
    return gatePoints === undefined ? [this.point] : [...gatePoints, this.point]
  }

  labels(): readonly Label[] {
    return this.#call.labels
  }
}

/** What a call from a gate gets that reaches the point it came from. */
export function reentered(point: string): SluiceError {
  return new SluiceError(
    'GATE_REENTERED',
    `A gate at ${point} called the runtime, and that call reached ${point} again.`,
    {
      hint: 'Leave that call out in the gate (look at ctx.depth or the model), or start it with runtime.detached().',
      details: { point },
    },
  )
}

/** Rows for gates of a point that were not reached. */
export function notAsked(taps: readonly CompiledTap[], gates: GateReceipt[]): void {
  for (const tap of taps)
    gates.push({ plugin: tap.plugin, point: tap.point, stage: tap.stage, answer: 'not_asked', ms: 0 })
}

/** How an attempt ended, for its receipt and its closing observers. */
export interface Ending {
  readonly outcome: EffectOutcome
  readonly sent: Sent
  readonly error?: unknown
}

/**
 * Closes an attempt: makes its receipt and tells the closing observers, with the context that `make` builds. The promise
 * never rejects.
 */
export function closeEffect(
  call: CallScope,
  effect: Effect,
  ending: Ending,
  observers: readonly CompiledTap[],
  make: (closed: Closed) => ClosingContext,
): { receipt: Receipt; told: Promise<void> | undefined } {
  effect.closed = true
  call.tree.noteAttempt(effect.facts.effectId, effect.facts.attempt)
  const receipt = receiptOf(effect, ending, call.tree.options.tenant)
  call.tree.addReceipt(receipt)
  if (call.run.sink !== undefined) void emit(call, 'receipt', frozenReceipt(receipt) as unknown as JsonObject)
  if (observers.length === 0) return { receipt, told: undefined }
  const state = new AskingState()
  const context = make({
    state,
    receipt,
    outcome: ending.outcome,
    sent: ending.sent,
    durationMs: effect.begunAt < 0 ? 0 : call.clock.monotonic() - effect.begunAt,
    error: ending.error === undefined ? null : snapshotError(ending.error),
  })
  return { receipt, told: observe(call.tree.observing, observers, context, true, state) }
}

export function receiptOf(effect: Effect, ending: Ending, tenant: string | null): Receipt {
  const facts = effect.facts
  for (let index = 0; index < effect.askings.length; index++) Object.freeze((effect.askings[index] as Asking).gates)
  return Object.freeze({
    effect: effect.kind,
    effectId: facts.effectId,
    attempt: facts.attempt,
    rootExecutionId: facts.rootExecutionId,
    executionId: facts.executionId,
    agentCode: facts.agentCode,
    subject: effect.subject,
    at: effect.at,
    askings: Object.freeze(effect.askings),
    outcome: ending.outcome,
    sent: ending.sent,
    ...(effect.inFlightAskings === 0 ? {} : { inFlightAskings: effect.inFlightAskings }),
    tenant,
  })
}

/** A frozen snapshot of an error for observers and records; never the caller's own object. */
export function snapshotError(error: unknown): ErrorSnapshot {
  const known = SluiceError.isInstance(error)
  let name = 'Error'
  try {
    if (error instanceof Error) name = error.name
  } catch {
    // a foreign error whose name cannot be read
  }
  return Object.freeze({
    name,
    code: known ? error.code : null,
    message: boundText(describeError(error), 4000).text,
    details: known && isPlainJson(error.details) ? deepFreeze(structuredClone(error.details)) : null,
  })
}
