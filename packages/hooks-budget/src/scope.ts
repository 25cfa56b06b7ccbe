import { Veto } from '@sluice/core'
import type { DocumentKey } from '@sluice/core'
import type { Limit } from './limit.js'

/** What a limit counts together. */
export type ScopeKind = 'run' | 'session' | 'agent' | 'user' | 'app' | 'tenant' | 'key'

/** What a bucket is found by. None of it is chosen by the model. */
export interface ScopeFacts {
  /** Root of the tree: one run with everything nested in it. */
  readonly rootExecutionId: string | null
  readonly sessionId: string | null
  readonly agentCode: string | null
  /** `caller.user`, never the service user of the runtime. */
  readonly user: string | null
  readonly appId: string | null
  readonly tenant: string | null
}

/**
 * Finds the bucket of a call: a text of 1 to 1 000 characters, or `false` where the limit does not concern the call. Anything
 * else stops the call with `SCOPE_UNRESOLVED`. Synchronous and pure: it is asked before and after the call.
 */
export type KeyFunction = (facts: ScopeFacts) => string | false

const MAX_KEY = 1_000

/**
 * Key of the document of a bucket; `undefined` where the limit does not concern the call.
 *
 * @throws SCOPE_UNRESOLVED, a `Veto`
 */
export function bucketKey(
  limit: Pick<Limit, 'id' | 'unit' | 'scope' | 'key'>,
  facts: ScopeFacts,
): DocumentKey | undefined {
  if (limit.scope === 'key') return keyOfFunction(limit, facts)
  const value = VALUES[limit.scope](facts)
  if (value === null) throw unresolved(limit.id, `the call has no ${NAMES[limit.scope]}`)
  const tenant = WITHIN_TENANT.has(limit.scope) && facts.tenant !== null ? [facts.tenant] : []
  return ['limit', limit.id, limit.unit, limit.scope, value, ...tenant]
}

const VALUES: Readonly<Record<Exclude<ScopeKind, 'key'>, (facts: ScopeFacts) => string | null>> = {
  run: (facts) => facts.rootExecutionId,
  session: (facts) => facts.sessionId,
  agent: (facts) => facts.agentCode,
  user: (facts) => facts.user,
  app: (facts) => facts.appId,
  tenant: (facts) => facts.tenant,
}
const NAMES: Readonly<Record<Exclude<ScopeKind, 'key'>, string>> = {
  run: 'run',
  session: 'session',
  agent: 'agent',
  user: 'user (the service user does not count)',
  app: 'app',
  tenant: 'tenant',
}
/** The same name in two tenants is not the same user, app or session. An agent is the owner's and counts over all tenants. */
const WITHIN_TENANT: ReadonlySet<ScopeKind> = new Set(['session', 'user', 'app'])

function keyOfFunction(
  { id, unit, key }: Pick<Limit, 'id' | 'unit' | 'key'>,
  facts: ScopeFacts,
): DocumentKey | undefined {
  let value: unknown
  try {
    value = key?.(facts)
  } catch {
    throw unresolved(id, 'its key function threw')
  }
  if (value === false) return undefined
  if (typeof value === 'string' && value.length > 0 && value.length <= MAX_KEY && !/\p{Surrogate}/u.test(value)) {
    return ['limit', id, unit, 'key', value]
  }
  // a promise would otherwise be rejected with nobody there
  if (value instanceof Promise) value.catch(() => undefined)
  throw unresolved(id, `its key function gave no text of 1 to ${MAX_KEY} characters`)
}

function unresolved(id: string, why: string): Veto {
  const text =
    `Limit "${id}" cannot be applied: ${why}. ` +
    'Say who calls (caller: { user, tenant, appId }), or take the limit out. A shared bucket is never used.'
  return new Veto('SCOPE_UNRESOLVED', text, { limit: id })
}
