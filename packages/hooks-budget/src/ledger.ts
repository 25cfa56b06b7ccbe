import type { DocumentKey, Documents, JsonObject, StoreCall } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { effectKey, isPending, readAttempts } from './attempt.js'
import type { AttemptRecord, Part } from './attempt.js'
import { usedIn } from './bucket.js'
import type { BucketStep, EffectAttempt } from './bucket-step.js'
import { effectStep } from './effect-step.js'
import type { Told } from './effect-step.js'
import type { Bound, Limit } from './limit.js'
import { isBucketOf, isSameKey, resolveAttempt } from './resolve-attempt.js'
import type { Resolution } from './resolve-attempt.js'

/** What a call asks of one limit. `amountFor` is pure and grows with the output cap. */
export interface Ask extends Bound {
  amountFor(outputTokens: bigint): bigint
}

export interface HoldRequest {
  readonly effectId: string
  readonly attempt: number
  readonly asks: readonly Ask[]
  /** Output cap of the call; 0 for a tool. */
  readonly outputTokens: bigint
  /** A call that may land, the last request of one that has landed, or a tool. */
  readonly kind: 'call' | 'landing' | 'tool'
  /** Kept with the hold: model, price and provenance. */
  readonly held: JsonObject
}

/** A limit into which a call does not fit. */
export interface Shortage {
  readonly limit: Limit
  readonly key: DocumentKey
  readonly amount: bigint
  readonly spent: bigint
  readonly held: bigint
  readonly unknown: bigint
  readonly asked: bigint
  readonly left: bigint
  /** Milliseconds since the epoch; `null` for ever. */
  readonly resetsAt: number | null
  readonly at: number
}

export type HoldAnswer =
  | { readonly kind: 'held' }
  | { readonly kind: 'closed' }
  /** Asked again, it asks for more than its hold has. */
  | { readonly kind: 'differs' }
  | { readonly kind: 'land'; readonly limit: Limit; readonly maxOutputTokens: number }
  /** `fits`: the largest output cap that fits into all limits, or `null`. */
  | { readonly kind: 'refused'; readonly shortage: Shortage; readonly fits: bigint | null }

/** `marked`: there was no hold, and a later one takes nothing. `repeated`: it was resolved before. */
export type Closed = 'resolved' | 'marked' | 'repeated'

/** Holds of all limits of one call, in one `transact` over the buckets and the record of the effect. */
export class Ledger {
  readonly #documents: Documents
  readonly #holdLifeMs: number

  constructor(documents: Documents, holdLifeMs: number) {
    this.#documents = documents
    this.#holdLifeMs = holdLifeMs
  }

  /** Holds in all limits or in none. Asked again for the same attempt, it answers again and takes nothing. */
  hold(request: HoldRequest, call?: StoreCall): Promise<Told<HoldAnswer>> {
    return effectStep<HoldAnswer>(
      this.#documents,
      { effectId: request.effectId, bounds: request.asks, closing: false },
      (attempts, steps, at) => {
        const known = attempts.find((one) => one.attempt === request.attempt)
        if (known !== undefined) return { answer: answerAgain(known, request) }
        for (const step of steps) step.lapse(this.#holdLifeMs)
        const refusal = judge(request, steps)
        return refusal === undefined
          ? { answer: { kind: 'held' }, attempt: takeHold(request, steps, at) }
          : { answer: refusal }
      },
      call,
    )
  }

  /**
   * Resolves an attempt once; an unknown one is corrected once. One that has no hold gets a mark, so that its hold, arriving
   * later, takes nothing. Where it cannot be known whether it was written, it is done once more. `decide` is pure.
   */
  async close(
    effect: EffectAttempt,
    bounds: readonly Bound[],
    limits: readonly Limit[],
    decide: (attempt: AttemptRecord) => Resolution,
    call?: StoreCall,
  ): Promise<Told<Closed>> {
    const first = await this.#closeTwice(effect, bounds, decide, call)
    if (first.answer !== 'other_buckets') return { ...first, answer: first.answer }
    // a hold that was taken under other keys than are found now, by another version of the code
    const attempts = readAttempts(await this.#documents.get(effectKey(effect.effectId), call))
    const parts = attempts.find((one) => one.attempt === effect.attempt)?.parts ?? []
    const again = await this.#closeTwice(effect, boundsOf(parts, limits), decide, call)
    return again as Told<Closed>
  }

  async #closeTwice(
    effect: EffectAttempt,
    bounds: readonly Bound[],
    decide: (attempt: AttemptRecord) => Resolution,
    call?: StoreCall,
  ): Promise<Told<Closed | 'other_buckets'>> {
    const lost: { told?: Told<Closed | 'other_buckets'> } = {}
    try {
      return await this.#closeOnce(effect, bounds, decide, call, lost)
    } catch (error) {
      if (!SluiceError.isInstance(error, 'STORE_OUTCOME_UNKNOWN')) throw error
      const again = await this.#closeOnce(effect, bounds, decide, call)
      // it was written the first time, and what is to be told of it was told to nobody
      return again.answer === 'repeated' ? (lost.told ?? again) : again
    }
  }

  #closeOnce(
    { effectId, attempt }: EffectAttempt,
    bounds: readonly Bound[],
    decide: (attempt: AttemptRecord) => Resolution,
    call: StoreCall | undefined,
    lost?: { told?: Told<Closed | 'other_buckets'> },
  ): Promise<Told<Closed | 'other_buckets'>> {
    return effectStep<Closed | 'other_buckets'>(
      this.#documents,
      { effectId, bounds, closing: true },
      (attempts, steps, at) => {
        const known = attempts.find((one) => one.attempt === attempt)
        if (known === undefined) {
          const mark: AttemptRecord = { attempt, state: 'closed', at, parts: [], held: null, booked: null }
          return { answer: 'marked', attempt: mark }
        }
        if (!isPending(known)) return { answer: 'repeated' }
        if (!known.parts.every((part) => steps.some((step) => isBucketOf(step, part)))) {
          return { answer: 'other_buckets' }
        }
        const resolution = decide(known)
        if (resolution.kind === 'unknown' && known.state === 'unknown') return { answer: 'repeated' }
        return { answer: 'resolved', ...resolveAttempt({ effectId, known, resolution, at }, steps) }
      },
      call,
      lost,
    )
  }
}

/** The bounds of what an attempt holds; a limit that is no longer in the code keeps its bucket. */
export function boundsOf(parts: readonly Part[], limits: readonly Limit[]): readonly Bound[] {
  return parts.map((part) => {
    const known = limits.find((limit) => limit.id === part.limit && limit.unit === part.unit)
    const gone: Limit = {
      id: part.limit,
      scope: 'key',
      key: undefined,
      unit: part.unit,
      amount: 0n,
      windowOf: () => ({ start: part.start, end: part.end }),
      thresholdPercents: [],
      landing: undefined,
    }
    return { limit: known ?? gone, key: part.key }
  })
}

/** Asked again, an attempt passes on the hold that it has, where that covers all that is asked now. */
function answerAgain(known: AttemptRecord, request: HoldRequest): HoldAnswer {
  if (known.state !== 'held') return { kind: 'closed' }
  const covers = (part: Part, ask: Ask) =>
    part.limit === ask.limit.id &&
    isSameKey(part.key, ask.key) &&
    BigInt(part.amount) >= ask.amountFor(request.outputTokens)
  return request.asks.every((ask) => known.parts.some((part) => covers(part, ask)))
    ? { kind: 'held' }
    : { kind: 'differs' }
}

function judge(request: HoldRequest, steps: readonly BucketStep[]): HoldAnswer | undefined {
  const short = steps.filter((step, index) => !fits(request, request.asks[index] as Ask, step))
  const [first] = short
  if (first === undefined) return undefined
  const landing = landingOf(request, short)
  const landed = landing !== undefined && steps.every((step, index) => landsIn(request.asks[index], step, landing))
  if (landed) return { kind: 'land', limit: first.bound.limit, maxOutputTokens: Number(landing) }
  const ask = request.asks[steps.indexOf(first)] as Ask
  return { kind: 'refused', shortage: shortageOf(ask, first, request.outputTokens), fits: capThatFits(request, steps) }
}

/** Exactly enough passes; 0 blocks, also what costs nothing. What is kept for landing is not there for other calls. */
function fits(request: HoldRequest, ask: Ask, step: BucketStep): boolean {
  return step.amount > 0n && ask.amountFor(request.outputTokens) + sliceOf(request, ask, step) <= step.left
}

/** What is to be left for a last request: as much as it would cost now, and behind a tool as much as at the last call. */
function sliceOf(request: HoldRequest, ask: Ask, step: BucketStep): bigint {
  const cap = ask.limit.landing?.maxOutputTokens
  if (cap === undefined || request.kind === 'landing') return 0n
  return request.kind === 'tool' ? step.window.slice : ask.amountFor(smaller(BigInt(cap), request.outputTokens))
}

function landsIn(ask: Ask | undefined, step: BucketStep, outputTokens: bigint): boolean {
  return ask !== undefined && step.amount > 0n && ask.amountFor(outputTokens) <= step.left
}

/** The output cap of a last request, where all limits that are short keep a slice for one. */
function landingOf(request: HoldRequest, short: readonly BucketStep[]): bigint | undefined {
  if (request.kind !== 'call') return undefined
  let cap = request.outputTokens
  for (const { bound } of short) {
    if (bound.limit.landing === undefined) return undefined
    cap = smaller(cap, BigInt(bound.limit.landing.maxOutputTokens))
  }
  return cap
}

function shortageOf(ask: Ask, step: BucketStep, outputTokens: bigint): Shortage {
  const { window, amount } = step
  return {
    limit: ask.limit,
    key: ask.key,
    amount,
    spent: window.spent,
    held: window.held,
    unknown: window.unknown,
    asked: ask.amountFor(outputTokens),
    left: amount - usedIn(window),
    resetsAt: window.end,
    at: step.at,
  }
}

function capThatFits(request: HoldRequest, steps: readonly BucketStep[]): bigint | null {
  const fit = (cap: bigint) => steps.every((step, index) => landsIn(request.asks[index], step, cap))
  let low = 0n
  let high = request.outputTokens
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (fit(middle)) low = middle
    else high = middle - 1n
  }
  return low > 0n ? low : null
}

function takeHold(request: HoldRequest, steps: readonly BucketStep[], at: number): AttemptRecord {
  const parts = steps.map((step, index): Part => {
    const ask = request.asks[index] as Ask
    if (request.kind === 'call') step.window.slice = sliceOf(request, ask, step)
    return step.take(request, ask.amountFor(request.outputTokens))
  })
  return { attempt: request.attempt, state: 'held', at, parts, held: request.held, booked: null }
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
