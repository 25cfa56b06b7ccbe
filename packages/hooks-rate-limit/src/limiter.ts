import type { Clock, DocumentKey, PluginHost } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { answerRefusals } from './answer-refusals.js'
import { admission, closing, renewal } from './ledger-rooms.js'
import type { LimitRule } from './limit-rule.js'
import type { RateCount } from './rate-limit-options.js'
import type { SubjectFacts } from './rate-subject.js'
import { subjectOf } from './rate-subject.js'
import type { Room } from './room.js'
import { passThrough } from './room.js'
import type { RunLease } from './run-leases.js'
import { changeLeases, isDue, readLeases, withCall, withoutCall } from './run-leases.js'

/** The part of a host that limits work with. */
export type LimiterHost = Pick<PluginHost, 'storage' | 'run'> & { readonly clock: Clock }

/** One effect that is asked about: its id over all askings, and whom it is counted for. */
export interface Effect {
  readonly id: string
  readonly facts: SubjectFacts
  readonly signal: AbortSignal
  /** Upper bound, or at closing the true number; `undefined` where it is not known. */
  readonly tokens?: number | undefined
}

/** Takes, renews and closes permits. It keeps nothing in memory. */
export interface Limiter {
  /** Admits a run, or throws the answer. */
  admitRun(effect: Effect): Promise<void>
  /** Admits a call, with `more` in the same step, or throws the answer. */
  admitCall(counts: readonly RateCount[], effect: Effect, more?: readonly Room[]): Promise<void>
  /** Renews the slots of a call and of its run, where that is due. */
  renew(counts: readonly RateCount[], effect: Effect): Promise<void>
  closeRun(effect: Effect): Promise<void>
  closeCall(counts: readonly RateCount[], effect: Effect, more?: readonly Room[]): Promise<void>
}

/** Where a limit counts an effect. */
interface Place {
  readonly rule: LimitRule
  readonly key: DocumentKey
}

export function createLimiter(host: LimiterHost, rules: readonly LimitRule[], leaseMs: number): Limiter {
  const { documents } = host.storage

  /** The limits that are about this effect, and where each counts it. */
  function placesOf(counts: readonly RateCount[], facts: SubjectFacts): readonly Place[] {
    return counts.flatMap((count) => {
      const counting = rules.filter((rule) => rule.count === count)
      if (counting.length === 0) return []
      const subject = subjectOf(count, facts)
      return counting.flatMap((rule): readonly Place[] => {
        const key = rule.keyOf(subject)
        return key === undefined ? [] : [{ rule, key }]
      })
    })
  }

  /** As {@link placesOf}, after the gate: where no key could be told, nothing was taken either. */
  function placesToClose(counts: readonly RateCount[], facts: SubjectFacts): readonly Place[] {
    try {
      return placesOf(counts, facts)
    } catch {
      return []
    }
  }

  function amountOf(rule: LimitRule, tokens: number | undefined): number {
    return rule.count === 'tokens' ? (tokens ?? 0) : 1
  }

  function runRooms(lease: RunLease): readonly Room[] {
    return lease.places.flatMap(({ limit, key }) => {
      const rule = rules.find(({ name, inFlight }) => inFlight && name === limit)
      return rule === undefined ? [] : [renewal(rule, key, lease.id, 1)]
    })
  }

  function dueRun(now: number): RunLease | undefined {
    const { run } = readLeases(host.run?.state)
    return run !== undefined && isDue(run.at, now, leaseMs) ? run : undefined
  }

  function noteRun(run: RunLease | undefined, now: number): void {
    if (run !== undefined) changeLeases(host.run?.state, (leases) => ({ ...leases, run: { ...run, at: now } }))
  }

  return {
    async admitRun({ id, facts, signal }) {
      const counted = readLeases(host.run?.state).counted === id
      // carried on after a pause it takes slots again, and nothing of a rate
      const places = placesOf(['runs'], facts).filter(({ rule }) => rule.inFlight || !counted)
      const now = host.clock.monotonic()
      answerRefusals(
        await passThrough(
          documents,
          places.map(({ rule, key }) => admission(rule, key, id, 1)),
          signal,
        ),
      )
      if (!counted) changeLeases(host.run?.state, (leases) => ({ ...leases, counted: id }))
      const slots = places.filter(({ rule }) => rule.inFlight)
      if (slots.length === 0) return
      noteRun({ id, at: now, places: slots.map(({ rule, key }) => ({ limit: rule.name, key })) }, now)
    },
    async admitCall(counts, { id, facts, signal, tokens }, more = []) {
      const places = placesOf(counts, facts)
      const now = host.clock.monotonic()
      const run = dueRun(now)
      const refusals = await passThrough(
        documents,
        [
          ...places.map(({ rule, key }) => admission(rule, key, id, amountOf(rule, tokens))),
          ...more,
          ...(run === undefined ? [] : runRooms(run)),
        ],
        signal,
      )
      noteRun(run, now)
      answerRefusals(refusals)
      if (places.some(({ rule }) => rule.inFlight))
        changeLeases(host.run?.state, (leases) => withCall(leases, { id, at: now, tokens: tokens ?? 0 }))
    },
    async renew(counts, { id, facts, signal }) {
      const now = host.clock.monotonic()
      const run = dueRun(now)
      const call = readLeases(host.run?.state).calls.find((held) => held.id === id)
      const places =
        call === undefined || !isDue(call.at, now, leaseMs)
          ? []
          : placesOf(counts, facts).filter(({ rule }) => rule.inFlight)
      await passThrough(
        documents,
        [
          ...places.map(({ rule, key }) => renewal(rule, key, id, amountOf(rule, call?.tokens))),
          ...(run === undefined ? [] : runRooms(run)),
        ],
        signal,
      )
      noteRun(run, now)
      if (call !== undefined && places.length > 0)
        changeLeases(host.run?.state, (leases) => withCall(leases, { ...call, at: now }))
    },
    async closeRun({ id, facts, signal }) {
      await passThrough(
        documents,
        placesToClose(['runs'], facts).map(({ rule, key }) => closing(rule, key, id, undefined)),
        signal,
      )
      changeLeases(host.run?.state, (leases) => (leases.run === undefined ? leases : { ...leases, run: undefined }))
    },
    async closeCall(counts, { id, facts, signal, tokens }, more = []) {
      // whether or not the store hears of it, nobody renews it any more
      changeLeases(host.run?.state, (leases) => withoutCall(leases, id))
      await passThrough(
        documents,
        [
          ...placesToClose(counts, facts).map(({ rule, key }) =>
            closing(rule, key, id, rule.count === 'tokens' ? tokens : undefined),
          ),
          ...more,
        ],
        signal,
      )
    },
  }
}

/** Names the limit of a status that was asked for. @throws NOT_FOUND */
export function ruleNamed(rules: readonly LimitRule[], name: string): LimitRule {
  const rule = rules.find((candidate) => candidate.name === name)
  if (rule !== undefined) return rule
  throw new SluiceError(
    'NOT_FOUND',
    `There is no limit of this name; there are ${rules.map((r) => r.name).join(', ')}.`,
  )
}
