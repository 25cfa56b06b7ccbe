import type { DocumentKey } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { MemoryConfig, MemoryScope } from './memory-config.js'

/** Names one store for direct management. What a scope does not need is left out. */
export interface MemoryStoreReference {
  /** Default: the store of those who have no tenant. */
  readonly tenant?: string | null
  readonly scope: MemoryScope
  /** Of the scopes `agent` and `user`, and of `context` without a `storeCode`. */
  readonly agentCode?: string
  /** Of scope `user`. */
  readonly user?: string
  /** Of scope `session`. */
  readonly sessionId?: string
  /** Of scope `shared`; of `context` its shared namespace. */
  readonly storeCode?: string
  readonly contextKey?: string
  readonly contextValue?: string
}

/** The key of a store, or why there is none in words for a model. */
export type ResolvedStore =
  | { readonly ok: true; readonly key: DocumentKey }
  | { readonly ok: false; readonly fault: string; readonly missing: string }

const CONTEXT_VALUE = /^[A-Za-z0-9_.-]{1,200}$/
const PART = 1_000
const SCOPES: readonly unknown[] = ['agent', 'user', 'session', 'shared', 'global', 'context'] satisfies MemoryScope[]

/** Keys are lists: no name holds another's separator, and the store of one tenant is never that of another or of none. */
export function storeKey(reference: MemoryStoreReference): ResolvedStore {
  const { scope, tenant = null, agentCode, user, sessionId, storeCode, contextKey, contextValue } = reference
  if (!SCOPES.includes(scope)) return no('scope', 'there is no such scope')
  const parts: string[] = tenant === null ? ['no-tenant'] : ['tenant', tenant]
  const need: Record<string, string | undefined> = {}
  if (scope === 'agent') Object.assign(need, { agentCode })
  else if (scope === 'user') Object.assign(need, { agentCode, user })
  else if (scope === 'session') Object.assign(need, { sessionId })
  else if (scope === 'shared') Object.assign(need, { storeCode })
  else if (scope === 'context') {
    // an agent and a shared namespace of the same name are two
    parts.push('context', storeCode === undefined ? 'of-agent' : 'of-store')
    Object.assign(need, { [storeCode === undefined ? 'agentCode' : 'storeCode']: storeCode ?? agentCode })
    Object.assign(need, { contextKey, contextValue })
  }
  if (scope !== 'context') parts.push(scope)
  for (const [name, value] of Object.entries(need)) {
    if (typeof value !== 'string' || value === '' || value.length > PART) return no(name, `it has no ${WORDS[name]}`)
    if (name === 'contextValue' && !CONTEXT_VALUE.test(value))
      return no(name, `the value of its key ${contextKey} is not 1 to 200 letters, digits, _, . and -`)
    parts.push(value)
  }
  return { ok: true, key: parts }
}

const WORDS: Readonly<Record<string, string>> = {
  agentCode: 'agent',
  user: 'user',
  sessionId: 'session',
  storeCode: 'name of a store',
  contextKey: 'key of the run context',
  contextValue: 'value of the key that it is kept by',
}

function no(missing: string, fault: string): ResolvedStore {
  return { ok: false, missing, fault }
}

/** The store of a call, from where it executes (M-5). */
export function storeOfCall(
  config: MemoryConfig,
  at: {
    readonly tenant: string | null
    readonly agentCode: string | null
    readonly user: string | null
    readonly sessionId: string | null
    readonly contextValue: string | null
  },
): ResolvedStore {
  const { scope, storeCode, contextKey } = config
  return storeKey({
    scope,
    tenant: at.tenant,
    ...(at.agentCode === null ? {} : { agentCode: at.agentCode }),
    ...(at.user === null ? {} : { user: at.user }),
    ...(at.sessionId === null ? {} : { sessionId: at.sessionId }),
    ...(storeCode === null ? {} : { storeCode }),
    ...(contextKey === null ? {} : { contextKey }),
    ...(at.contextValue === null ? {} : { contextValue: at.contextValue }),
  })
}

/** As {@link storeKey}. @throws SCOPE_UNRESOLVED for a scope by user without one; INVALID_CONFIG (`reason` `memory.store`) */
export function requireStoreKey(reference: MemoryStoreReference): DocumentKey {
  const found = storeKey(reference)
  if (found.ok) return found.key
  throw new SluiceError(
    found.missing === 'user' ? 'SCOPE_UNRESOLVED' : 'INVALID_CONFIG',
    `The memory of scope ${String(reference.scope)} cannot be told: ${found.fault}.`,
    { reason: 'memory.store', details: { missing: found.missing } },
  )
}
