import type { DocumentKey, Documents, JsonObject, StoreCall } from '@sluice/core'
import { effectKey, readAttempts, withAttempt } from './attempt.js'
import type { AttemptRecord, Part } from './attempt.js'
import { readBucket, usedIn, writeBucket } from './bucket.js'
import { BucketStep } from './bucket-step.js'
import type { BudgetEvent } from './bucket-step.js'
import type { Bound, Limit, Unit } from './limit.js'

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
  /** False for a call that is landing already, and for tools. */
  readonly mayLand: boolean
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
  | { readonly kind: 'land'; readonly limit: Limit; readonly maxOutputTokens: number }
  /** `fits`: the largest output cap that fits into all limits, or `null`. */
  | { readonly kind: 'refused'; readonly shortage: Shortage; readonly fits: bigint | null }

/** What became of an attempt. A unit whose amount is `null` is booked at what was held. */
export type Resolution =
  | { readonly kind: 'released'; readonly booked: JsonObject | null }
  | { readonly kind: 'unknown'; readonly booked: JsonObject }
  | { readonly kind: 'settled'; readonly amounts: Readonly<Record<Unit, bigint | null>>; readonly booked: JsonObject }

/** What a step of the ledger gives back, with what is to be told. */
export interface Told<Answer> {
  readonly answer: Answer
  readonly events: readonly BudgetEvent[]
}

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
    return this.transact(
      effectKey(request.effectId),
      request.asks,
      (attempts, steps, at) => {
        const known = attempts.find((one) => one.attempt === request.attempt)
        if (known !== undefined) return { answer: { kind: known.state === 'held' ? 'held' : 'closed' } }
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
   * later, takes nothing. `decide` is pure.
   */
  async close(
    effect: { readonly effectId: string; readonly attempt: number },
    bounds: readonly Bound[],
    limits: readonly Limit[],
    decide: (attempt: AttemptRecord) => Resolution,
    call?: StoreCall,
  ): Promise<Told<'resolved' | 'marked' | 'repeated'>> {
    const first = await this.#closeWith(effect, bounds, decide, call)
    if (first.answer !== 'other_buckets') return first as Told<'resolved' | 'marked' | 'repeated'>
    // a hold that was taken under other keys than are found now, by another version of the code
    const attempts = readAttempts(await this.#documents.get(effectKey(effect.effectId), call))
    const parts = attempts.find((one) => one.attempt === effect.attempt)?.parts ?? []
    const again = await this.#closeWith(effect, boundsOf(parts, limits), decide, call)
    return again as Told<'resolved' | 'marked' | 'repeated'>
  }

  #closeWith(
    { effectId, attempt }: { readonly effectId: string; readonly attempt: number },
    bounds: readonly Bound[],
    decide: (attempt: AttemptRecord) => Resolution,
    call?: StoreCall,
  ): Promise<Told<'resolved' | 'marked' | 'repeated' | 'other_buckets'>> {
    return this.transact(
      effectKey(effectId),
      bounds,
      (attempts, steps, at) => {
        const known = attempts.find((one) => one.attempt === attempt)
        if (known === undefined) {
          const mark: AttemptRecord = { attempt, state: 'closed', at, parts: [], held: null, booked: null }
          return { answer: 'marked', attempt: mark }
        }
        if (known.state !== 'held' && known.state !== 'unknown') return { answer: 'repeated' }
        if (!known.parts.every((part) => steps.some((step) => isBucketOf(step, part)))) {
          return { answer: 'other_buckets' }
        }
        const resolution = decide(known)
        if (resolution.kind === 'unknown' && known.state === 'unknown') return { answer: 'repeated' }
        return { answer: 'resolved', attempt: resolveAttempt({ effectId, known, resolution, at }, steps) }
      },
      call,
    )
  }

  /**
   * One step over the record of an effect and some buckets. Without an `attempt` in what `change` returns nothing is
   * written but what has lapsed; `change` may be called again and must keep nothing.
   */
  transact<Answer>(
    effect: DocumentKey,
    bounds: readonly Bound[],
    change: (
      attempts: readonly AttemptRecord[],
      steps: readonly BucketStep[],
      at: number,
    ) => { readonly answer: Answer; readonly attempt?: AttemptRecord },
    call?: StoreCall,
  ): Promise<Told<Answer>> {
    return this.#documents.transact<Told<Answer>>(
      [effect, ...bounds.map((bound) => bound.key)],
      (current, at) => {
        const attempts = readAttempts(current[0])
        const steps = bounds.map((bound, index) => new BucketStep(bound, readBucket(current[index + 1]), at))
        const { answer, attempt } = change(attempts, steps, at)
        const events = steps.flatMap((step) => step.events)
        // nothing was done, but what has lapsed meanwhile is written down
        const buckets = steps.map((step, index) =>
          attempt === undefined && step.events.length === 0 ? current[index + 1] : writeBucket(step.bucket),
        )
        const record = attempt === undefined ? current[0] : withAttempt(attempts, attempt)
        return { next: [record, ...buckets], result: { answer, events } }
      },
      call,
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

/** True where a step is about the bucket in which a part is held. */
export function isBucketOf(step: BucketStep, part: Part): boolean {
  const { key } = step.bound
  return key.length === part.key.length && key.every((text, index) => text === part.key[index])
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
  const cap = ask.limit.landing?.maxOutputTokens
  const reserve = !request.mayLand || cap === undefined ? 0n : ask.amountFor(smaller(BigInt(cap), request.outputTokens))
  return step.amount > 0n && ask.amountFor(request.outputTokens) + reserve <= step.left
}

function landsIn(ask: Ask | undefined, step: BucketStep, outputTokens: bigint): boolean {
  return ask !== undefined && step.amount > 0n && ask.amountFor(outputTokens) <= step.left
}

/** The output cap of a last request, where all limits that are short keep a slice for one. */
function landingOf(request: HoldRequest, short: readonly BucketStep[]): bigint | undefined {
  if (!request.mayLand) return undefined
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
    const { window, bucket } = step
    const amount = ask.amountFor(request.outputTokens)
    window.held += amount
    const { effectId, attempt } = request
    bucket.open = [...bucket.open, { effectId, attempt, start: window.start, end: window.end, amount, at }]
    const { id, unit } = ask.limit
    return { limit: id, key: ask.key, unit, start: window.start, end: window.end, amount: amount.toString() }
  })
  return { attempt: request.attempt, state: 'held', at, parts, held: request.held, booked: null }
}

interface Resolving {
  readonly effectId: string
  readonly known: AttemptRecord
  readonly resolution: Resolution
  readonly at: number
}

/** Books the resolution of an attempt in all its buckets; returns the record of the attempt as it then is. */
export function resolveAttempt(
  { effectId, known, resolution, at }: Resolving,
  steps: readonly BucketStep[],
): AttemptRecord {
  const { attempt, parts } = known
  for (const part of parts) {
    const step = steps.find((one) => isBucketOf(one, part)) as BucketStep
    const window = step.takeBack(part, effectId, attempt)
    if (resolution.kind === 'unknown') {
      window.unknown += BigInt(part.amount)
      step.checkThresholds(window)
    } else if (resolution.kind === 'settled') {
      const charged = resolution.amounts[part.unit] ?? BigInt(part.amount)
      step.spend(window, part, { effectId, attempt, charged })
    }
  }
  return { ...known, state: resolution.kind, at, booked: resolution.booked }
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
