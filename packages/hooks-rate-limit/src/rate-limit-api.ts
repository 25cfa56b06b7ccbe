import type { JsonValue, PluginHost } from '@sluice/core'
import { openLedger, standing, waitMs } from './ledger.js'
import type { LimitRule } from './limit-rule.js'
import { ruleNamed } from './limiter.js'
import type { RateSubject } from './rate-subject.js'
import { sweepPage } from './sweep.js'

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

/** Clears away by itself, a part at a time. */
export interface Sweeper {
  /** Clears a part away where the last time is a minute ago. */
  whenDue(): Promise<void>
  /** Clears all away. */
  all(): Promise<number>
}

type SweptHost = Pick<PluginHost, 'storage' | 'clock' | 'logger'>

const SWEEP_EVERY_MS = 60_000
const PAGES_AT_ONCE = 10

export function createSweeper({ storage, clock, logger }: SweptHost): Sweeper {
  let last = clock.monotonic()
  let after: string | null = null
  return {
    async whenDue() {
      const now = clock.monotonic()
      if (now - last < SWEEP_EVERY_MS) return
      last = now
      try {
        for (let page = 0; page < PAGES_AT_ONCE; page++) {
          after = (await sweepPage(storage.documents, after, clock.now())).next
          if (after === null) return
        }
      } catch (error) {
        after = null
        logger.warn({ error: String(error) }, 'rate limits whose time is over could not be cleared away')
      }
    },
    async all() {
      let deleted = 0
      let next: string | null = null
      do {
        const page: Awaited<ReturnType<typeof sweepPage>> = await sweepPage(storage.documents, next, clock.now())
        deleted += page.deleted
        next = page.next
      } while (next !== null)
      return deleted
    },
  }
}

export function createRateLimitApi(host: SweptHost, rules: readonly LimitRule[], sweeper: Sweeper): RateLimitApi {
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
