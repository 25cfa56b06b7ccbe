import type { ResolvedCaller } from '../context/caller.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { isPlainObject } from '../internal/json.js'

/**
 * What a reader may see: the records of one tenant (`null`: those without a tenant), of one user of it, or all. It has no
 * default: whoever reads says on whose behalf. `user` is the application user; the service user of the runtime is none.
 */
export type Scope = 'all' | { readonly tenant: string | null; readonly user?: string }

/** What scopes are compared with. */
export interface ScopedRecord {
  readonly tenant: string | null
  readonly appUser: string | null
}

/**
 * Checks a scope that came from outside.
 *
 * @throws MISSING_CONFIG where there is none, INVALID_CONFIG (`reason` `scope.invalid`) for one of another form
 */
export function parseScope(scope: unknown): Scope {
  if (scope === 'all') return scope
  if (scope === undefined || scope === null) {
    throw new SluiceError('MISSING_CONFIG', 'No scope was given, and there is no default.', {
      hint: "Give `scope: { tenant, user }`, or `scope: 'all'`; `runtime.as(caller)` fills it in.",
    })
  }
  const faults = new Faults()
  if (!isPlainObject(scope)) {
    faults.add('scope', "must be 'all' or an object of tenant and user")
  } else {
    for (const key of Object.keys(scope)) if (key !== 'tenant' && key !== 'user') faults.add(key, 'is not known')
    const { tenant, user } = scope
    if (tenant !== null && (typeof tenant !== 'string' || tenant === ''))
      faults.add('tenant', 'must be text, or null for records without a tenant')
    if (user !== undefined && (typeof user !== 'string' || user === ''))
      faults.add('user', 'must be text; leave it out for all users of the tenant')
  }
  faults.throwIfAny('The scope is not acceptable', { reason: 'scope.invalid' })
  return scope as Scope
}

/**
 * The scope of a caller. A job or direct call without a user sees its tenant.
 *
 * @throws SCOPE_UNRESOLVED for a visitor or user of an application whom the caller does not name: never everybody's records
 */
export function scopeOf(caller: ResolvedCaller): Scope {
  if (caller.user !== null) return { tenant: caller.tenant, user: caller.user }
  if (caller.audience === 'db') return { tenant: caller.tenant }
  throw new SluiceError(
    'SCOPE_UNRESOLVED',
    `A caller of audience '${caller.audience}' without a user has no records of its own.`,
    {
      hint: 'Give `user` in the caller.',
    },
  )
}

/** True where the record may be seen under the scope. */
export function inScope(record: ScopedRecord, scope: Scope): boolean {
  if (scope === 'all') return true
  return record.tenant === scope.tenant && (scope.user === undefined || record.appUser === scope.user)
}

/** The scope as the store filters by it. It lets through a little more than {@link inScope}, which is asked after it. */
export function storeFilter(scope: Scope): { readonly tenant?: string | null; readonly createdBy?: string } {
  if (scope === 'all') return {}
  return scope.user === undefined ? { tenant: scope.tenant } : { tenant: scope.tenant, createdBy: scope.user }
}
