import { describe, expect, it } from 'vitest'
import { normalizeCaller } from '../context/caller.js'
import { SluiceError } from '../errors/sluice-error.js'
import { inScope, parseScope, scopeOf } from './scope.js'

function codeOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return SluiceError.isInstance(error) ? error.code : 'other'
  }
}

describe('parseScope', () => {
  it('design 4.3: takes a tenant, a tenant with a user, or all', () => {
    for (const scope of ['all', { tenant: 'acme' }, { tenant: null }, { tenant: 'acme', user: 'petra.k' }]) {
      expect(parseScope(scope)).toEqual(scope)
    }
  })

  it('design 4.3: has no default', () => {
    expect(codeOf(() => parseScope(undefined))).toBe('MISSING_CONFIG')
    expect(codeOf(() => parseScope(null))).toBe('MISSING_CONFIG')
  })

  it.each([
    ['ALL'],
    [''],
    [{}],
    [{ tenant: undefined }],
    [{ user: 'petra.k' }],
    [{ tenant: '' }],
    [{ tenant: 'a', user: null }],
    [{ tenant: 'a', user: '' }],
    [{ tenant: 'a', users: 'x' }],
    [[]],
  ])('design 4.3: %j is refused, never read as all', (scope) => {
    expect(codeOf(() => parseScope(scope))).toBe('INVALID_CONFIG')
  })
})

describe('inScope', () => {
  const record = { tenant: 'acme', appUser: 'petra.k' }
  it('design 4.3: a tenant sees its records and no others', () => {
    expect(inScope(record, { tenant: 'acme' })).toBe(true)
    expect(inScope(record, { tenant: 'other' })).toBe(false)
    expect(inScope(record, { tenant: null })).toBe(false)
    expect(inScope({ ...record, tenant: null }, { tenant: null })).toBe(true)
    expect(inScope(record, 'all')).toBe(true)
  })
  it('S-33, S-34: a user sees what this user opened, and nothing that a job opened', () => {
    expect(inScope(record, { tenant: 'acme', user: 'petra.k' })).toBe(true)
    expect(inScope(record, { tenant: 'acme', user: 'mallory' })).toBe(false)
    expect(inScope({ tenant: 'acme', appUser: null }, { tenant: 'acme', user: 'petra.k' })).toBe(false)
  })
})

describe('scopeOf', () => {
  it('design 4.3: a caller sees what it opened, a job what its tenant has', () => {
    expect(scopeOf(normalizeCaller({ user: 'petra.k', tenant: 'acme', audience: 'authenticated' }))).toEqual({
      tenant: 'acme',
      user: 'petra.k',
    })
    expect(scopeOf(normalizeCaller({ tenant: 'acme' }, 'svc'))).toEqual({ tenant: 'acme' })
  })
  it('design 4.3: an anonymous visitor sees nothing rather than everything', () => {
    expect(codeOf(() => scopeOf(normalizeCaller({ audience: 'public', tenant: 'acme' }, 'svc')))).toBe(
      'SCOPE_UNRESOLVED',
    )
    expect(codeOf(() => scopeOf(normalizeCaller({ audience: 'authenticated' })))).toBe('SCOPE_UNRESOLVED')
  })
})
