import type { DocumentKey, JsonObject, JsonValue, RateLimitHeaders } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { keyPart } from './rate-subject.js'
import type { QuotaReport } from './read-quota-headers.js'
import { readQuotaHeaders } from './read-quota-headers.js'
import type { Room, RoomRefusal } from './room.js'

/** How the reports of providers are heeded. */
export interface QuotaRule {
  readonly wait: boolean
  /** Longest that a report is believed. */
  readonly atMostMs: number
}

/** A provider's window: what it said was left, less what has been admitted since, until its reset. */
interface QuotaWindow {
  readonly limit: number | null
  readonly left: number
  readonly reset: number
}

interface Quota {
  readonly at: number
  readonly now: number
  /** The provider asked to be left alone until then. */
  readonly blocked: number
  readonly requests: QuotaWindow | null
  readonly tokens: QuotaWindow | null
  /** Attempts that were admitted since the last report. */
  readonly open: readonly string[]
}

/** First part of the keys of all quotas. */
export const QUOTAS = 'quota'
const MOST_OPEN = 256

/** Where the reports of one model of one provider stand. */
export function quotaKey(provider: string, model: string): DocumentKey {
  return [QUOTAS, keyPart(provider), keyPart(model)]
}

/** Admits a request where the provider's last report left some; how many tokens it comes to nobody knows before. */
export function quotaAdmission(rule: QuotaRule, key: DocumentKey, id: string): Room {
  return {
    key,
    enter(current, at) {
      if (current === undefined) return { taken: undefined, untouched: undefined }
      const quota = readQuota(current, at)
      const untouched = at < (current as unknown as Quota).at ? toDocument(quota) : current
      if (quota.open.includes(id)) return { taken: untouched, untouched }
      const wait = waitOf(quota)
      if (wait > 0) return { refusal: refusal(rule, key, quota, wait), taken: untouched, untouched }
      const { requests } = quota
      const next: Quota = {
        ...quota,
        requests: requests === null ? null : { ...requests, left: requests.left - 1 },
        open: [...quota.open, id].slice(-MOST_OPEN),
      }
      return { taken: toDocument(next), untouched }
    },
  }
}

/** Takes over what a reply said, and how long a failure asked to wait. */
export function quotaReport(
  rule: QuotaRule,
  key: DocumentKey,
  headers: RateLimitHeaders | null,
  retryAfterMs: number | null,
): Room {
  return {
    key,
    enter(current, at) {
      const quota = readQuota(current, at)
      const { requests, tokens } = headers === null ? {} : readQuotaHeaders(headers, at)
      const heard = requests !== undefined || tokens !== undefined
      const windowOf = (report: QuotaReport | undefined, before: QuotaWindow | null): QuotaWindow | null =>
        report === undefined
          ? before
          : { limit: report.limit, left: report.left, reset: quota.now + Math.min(report.resetMs, rule.atMostMs) }
      const next = toDocument({
        ...quota,
        blocked:
          retryAfterMs === null
            ? quota.blocked
            : Math.max(quota.blocked, quota.now + Math.min(retryAfterMs, rule.atMostMs)),
        requests: windowOf(requests, quota.requests),
        tokens: windowOf(tokens, quota.tokens),
        open: heard ? [] : quota.open,
      })
      return { taken: next, untouched: next }
    },
  }
}

function waitOf({ now, blocked, requests, tokens }: Quota): number {
  const waits = [blocked - now]
  if (requests !== null && requests.left < 1) waits.push(requests.reset - now)
  if (tokens !== null && tokens.left < 1) waits.push(tokens.reset - now)
  return Math.max(0, ...waits)
}

function refusal(rule: QuotaRule, key: DocumentKey, quota: Quota, wait: number): RoomRefusal {
  const left = `${quota.requests?.left ?? 'unknown'} requests and ${quota.tokens?.left ?? 'unknown'} tokens`
  return {
    limit: `provider:${key
      .slice(1)
      .map((part) => part.slice(1))
      .join('/')}`,
    retryAfterMs: Math.min(rule.atMostMs, Math.max(1, Math.ceil(wait))),
    wait: rule.wait,
    bound:
      quota.blocked > quota.now ? 'nothing for now, as it asked for a pause' : `what its last reply left (${left})`,
    max: null,
    used: null,
    asked: 1,
  }
}

function readQuota(value: JsonValue | undefined, at: number): Quota {
  if (value === undefined) return { at, now: 0, blocked: 0, requests: null, tokens: null, open: [] }
  const stored = value as unknown as Quota
  if (![stored?.at, stored?.now, stored?.blocked].every(Number.isFinite) || !Array.isArray(stored.open)) {
    throw new SluiceError('STORE_DAMAGED', 'A stored report of a provider is not one that this plugin writes.', {
      hint: 'Delete it.',
    })
  }
  const now = stored.now + Math.max(0, at - stored.at)
  const live = (window: QuotaWindow | null): QuotaWindow | null =>
    window !== null && window.reset > now ? window : null
  const requests = live(stored.requests)
  const tokens = live(stored.tokens)
  return { ...stored, at, now, requests, tokens, open: requests === null && tokens === null ? [] : stored.open }
}

function toDocument(quota: Quota): JsonObject | undefined {
  const { at, now, blocked, requests, tokens, open } = quota
  const until = Math.max(blocked, requests?.reset ?? 0, tokens?.reset ?? 0)
  if (until <= now) return undefined
  return { at, now, until, blocked, requests: requests && { ...requests }, tokens: tokens && { ...tokens }, open }
}
