import type { JsonValue, PluginHost } from '@sluice/core'
import { openLedger, standing, waitMs } from './ledger.js'
import type { LimitRule } from './limit-rule.js'
import { ruleNamed } from './limiter.js'
import type { RateSubject } from './rate-subject.js'
import type { Sweeper } from './sweeper.js'

/** How a limit stands for one subject. */
export interface LimitStatus {
  readonly limit: string
  readonly max: number
  readonly used: number
  /** What is left of `max` now; a `burst` may admit less at once. */
  readonly left: number
  /** Milliseconds until one more is admitted, 0 for now; `null`: never, the limit is 0. */
  readonly retryAfterMs: number | null
}

/** What `runtime.plugin(rateLimit)` gives. */
export interface RateLimitApi {
  /**
   * How the limit of this name stands; `subject` says for whom, as far as its scope needs it: `{ user: 'petra.k' }`.
   * `undefined` where its key function says that it is not about this subject.
   *
   * @throws NOT_FOUND for a name that is none; Veto SCOPE_UNRESOLVED where the subject lacks what the scope needs
   */
  status(limit: string, subject?: Partial<RateSubject>): Promise<LimitStatus | undefined>
  /** Deletes all documents in which nothing stands any more, and returns their number. Happens by itself, too. */
  sweep(): Promise<number>
}

/** @see RateLimitApi */
export function createRateLimitApi(
  host: Pick<PluginHost, 'storage'>,
  rules: readonly LimitRule[],
  sweeper: Sweeper,
): RateLimitApi {
  return {
    async status(name, subject = {}) {
      const rule = ruleNamed(rules, name)
      const key = rule.keyOf({ ...NOBODY, count: rule.count, ...subject })
      if (key === undefined) return undefined
      return host.storage.documents.transact([key], (current: readonly (JsonValue | undefined)[], at) => {
        const ledger = openLedger(current[0], at, rule)
        const used = standing(ledger)
        const result: LimitStatus = {
          limit: name,
          max: rule.max,
          used,
          left: Math.max(0, rule.max - used),
          retryAfterMs: waitMs(ledger, 1) ?? null,
        }
        return { next: current, result }
      })
    },
    sweep: () => sweeper.all(),
  }
}

const NOBODY: Omit<RateSubject, 'count'> = Object.freeze({
  tenant: null,
  user: null,
  appId: null,
  sessionId: null,
  rootExecutionId: '',
  agentCode: null,
  provider: null,
  model: null,
  toolCode: null,
  caller: null,
})
