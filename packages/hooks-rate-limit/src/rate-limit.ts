import type { ErrorSnapshot } from '@sluice/core'
import { definePlugin, Stage } from '@sluice/core'
import { toLimitRule } from './limit-rule.js'
import { createLimiter } from './limiter.js'
import type { QuotaRule } from './quota-rooms.js'
import { quotaAdmission, quotaKey, quotaReport } from './quota-rooms.js'
import { createRateLimitApi } from './rate-limit-api.js'
import type { RateLimitApi } from './rate-limit-api.js'
import type { RateCount, RateLimitOptions } from './rate-limit-options.js'
import { rateLimitOptions } from './rate-limit-options.js'
import { hasQuota } from './read-quota-headers.js'
import { createSweeper } from './sweeper.js'
import { tokensAtMost, tokensUsed } from './token-counts.js'

const LEASE_MS = 30_000
const QUOTA_AT_MOST_MS = 3_600_000
const MODEL: readonly RateCount[] = ['modelCalls', 'tokens']
const TOOL: readonly RateCount[] = ['toolCalls']

/**
 * Limits runs, model calls, tool calls and tokens, per span and in flight. A gate at stage `limit`; all limits of one call
 * are taken in one step of the store, or none.
 *
 * @example
 * plugins: [rateLimit({ limits: [{ count: 'modelCalls', scope: 'user', max: 60, per: 'minute' }, { count: 'runs', inFlight: 8 }] })]
 *
 * @throws INVALID_CONFIG for options that do not fit, all faults at once
 */
export const rateLimit = definePlugin<typeof rateLimitOptions, RateLimitApi>({
  name: 'hooks-rate-limit',
  hookApi: 1,
  version: '0.1.0',
  options: rateLimitOptions,
  apply(hooks, host) {
    const { limits = [], leaseMs = LEASE_MS, providerQuota = false } = host.options
    const rules = limits.map((limit) => toLimitRule(limit, leaseMs))
    const quota = quotaRule(providerQuota)
    const limiter = createLimiter(host, rules, leaseMs)
    const sweeper = createSweeper(host)
    const counts = (...kinds: readonly RateCount[]): boolean => rules.some(({ count }) => kinds.includes(count))
    const holds = (...kinds: readonly RateCount[]): boolean =>
      rules.some(({ count, inFlight }) => inFlight && kinds.includes(count))
    const tokens = counts('tokens')
    const at = (name: string) => ({ name, stage: Stage.limit })

    if (counts('runs')) {
      hooks.beforeExecution.tapPromise(at('runs'), (run) =>
        limiter.admitRun({ id: run.effectId, facts: run, signal: run.signal }),
      )
      hooks.afterExecution.tapPromise('runs', async (run) => {
        sweeper.later()
        await limiter.closeRun({ id: run.effectId, facts: run, signal: run.signal })
      })
      hooks.onStop.tapPromise('runs', async (stop) => {
        // a run that a later gate refused has no end of its own
        if (stop.point !== 'beforeExecution' || stop.effectId === null) return
        await limiter.closeRun({ id: stop.effectId, facts: stop, signal: stop.signal })
      })
    }

    const models = quota !== undefined || counts(...MODEL)
    if (models || holds('runs')) {
      hooks.beforeModelCall.tapPromise(at('model calls'), async (call) => {
        const asked = tokens ? tokensAtMost(call) : undefined
        const id = permitId(call)
        await limiter.admitCall(
          MODEL,
          { id, facts: call, signal: call.signal, tokens: asked },
          quota === undefined ? [] : [quotaAdmission(quota, quotaKey(call.provider, call.model), id)],
        )
      })
    }
    if (models) {
      hooks.afterModelCall.tapPromise('model calls', async (call) => {
        sweeper.later()
        const retryAfterMs = pauseAsked(call.error)
        const told = quota !== undefined && (retryAfterMs !== null || hasQuota(call.rateLimit))
        await limiter.closeCall(
          MODEL,
          { id: permitId(call), facts: call, signal: call.signal, tokens: tokens ? tokensUsed(call) : undefined },
          told ? [quotaReport(quota, quotaKey(call.provider, call.model), call.rateLimit, retryAfterMs)] : [],
        )
      })
    }

    if (counts(...TOOL) || holds('runs')) {
      hooks.beforeToolCall.tapPromise(at('tool calls'), (call) =>
        limiter.admitCall(TOOL, { id: permitId(call), facts: call, signal: call.signal }),
      )
    }
    if (counts(...TOOL)) {
      hooks.afterToolCall.tapPromise('tool calls', async (call) => {
        sweeper.later()
        await limiter.closeCall(TOOL, { id: permitId(call), facts: call, signal: call.signal })
      })
    }

    if (holds('runs', ...MODEL, ...TOOL)) {
      hooks.whileInFlight.tapPromise(at('renew slots'), (open) =>
        limiter.renew(open.effect === 'model_call' ? MODEL : TOOL, {
          id: permitId(open),
          facts: open,
          signal: open.signal,
        }),
      )
    }
    return { api: createRateLimitApi(host, rules, sweeper), dispose: () => sweeper.dispose() }
  },
})

/** A permit is one attempt of one effect. */
function permitId({ effectId, attempt }: { readonly effectId: string; readonly attempt: number }): string {
  return `${effectId}#${attempt}`
}

/** Milliseconds that a provider which refused a request asked to wait. */
function pauseAsked(error: ErrorSnapshot | null): number | null {
  if (error?.code !== 'PROVIDER_RATE_LIMITED' && error?.code !== 'PROVIDER_OVERLOADED') return null
  const asked = error.details?.retryAfterMs
  return typeof asked === 'number' && asked > 0 ? asked : null
}

function quotaRule(given: NonNullable<RateLimitOptions['providerQuota']>): QuotaRule | undefined {
  if (given === false) return undefined
  const { wait = false, atMostMs = QUOTA_AT_MOST_MS } = given === true ? {} : given
  return { wait, atMostMs }
}
