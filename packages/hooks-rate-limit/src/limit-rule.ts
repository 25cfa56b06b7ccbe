import type { DocumentKey } from '@sluice/core'
import { Veto } from '@sluice/core'
import type { LedgerRule } from './ledger.js'
import type { LimitOptions, RateCount } from './rate-limit-options.js'
import { limitName, scopesOf, SPANS } from './rate-limit-options.js'
import type { RateSubject } from './rate-subject.js'
import { keyPart, scopeParts } from './rate-subject.js'

/** A limit as the gates work with it. */
export interface LimitRule extends LedgerRule {
  readonly name: string
  readonly count: RateCount
  /** Bounds what is under way; else what begins per span. */
  readonly inFlight: boolean
  readonly wait: boolean
  /** What it admits, in words. */
  readonly bound: string
  /** Where the subject is counted; `undefined`: the limit is not about it. */
  keyOf(subject: RateSubject): DocumentKey | undefined
}

const WORDS: Readonly<Record<RateCount, string>> = {
  runs: 'runs',
  modelCalls: 'model calls',
  toolCalls: 'tool calls',
  tokens: 'tokens',
}

/** First part of the keys of all ledgers. */
export const LEDGERS = 'limit'

/** The rule that the options of a limit say. They are checked already. */
export function toLimitRule(options: LimitOptions, leaseMs: number): LimitRule {
  const { count, key, inFlight, wait = false } = options
  const name = limitName(options)
  const scopes = scopesOf(options.scope)
  const words = WORDS[count]
  const common = {
    name,
    count,
    wait,
    keyOf: (subject: RateSubject): DocumentKey | undefined => {
      if (key === undefined) return [LEDGERS, name, ...scopeParts(name, scopes, subject)]
      const own = key(subject)
      if (own === null) return undefined
      if (typeof own === 'string') return [LEDGERS, name, keyPart(own)]
      throw new Veto('RATE_LIMIT_KEY', `The key function of limit "${name}" gave no text and not null.`, {
        limit: name,
        type: typeof own,
      })
    },
  }
  if (inFlight !== undefined)
    return { ...common, inFlight: true, max: inFlight, spanMs: leaseMs, bound: `${inFlight} ${words} at once` }
  const { max = 0, per = 'second', burst = max } = options
  const spanMs = typeof per === 'number' ? per : SPANS[per]
  const spread = burst < max
  return {
    ...common,
    inFlight: false,
    max,
    spanMs,
    ...(spread ? { pace: { perMs: max / spanMs, burst } } : {}),
    bound: `${max} ${words} per ${typeof per === 'number' ? `${per} ms` : per}${spread ? `, ${burst} at once` : ''}`,
  }
}
