import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import type { Caller } from './caller.js'
import { normalizeCaller } from './caller.js'

function fault(run: () => unknown): SluiceError {
  try {
    run()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('normalizeCaller', () => {
  it('S-15: without a caller the audience is db and every other field is null', () => {
    expect(normalizeCaller(undefined)).toEqual({
      user: null,
      tenant: null,
      audience: 'db',
      appId: null,
      pageId: null,
      appSessionId: null,
      ipAddress: null,
      host: null,
      module: null,
      action: null,
      clientIdentifier: null,
      metadata: null,
      createdBy: null,
    })
  })

  it.each(['public', 'authenticated', 'db'] as const)(
    'S-15, H-5: the audience %s is kept as a class, never a boolean',
    (audience) => {
      expect(normalizeCaller({ audience }).audience).toBe(audience)
    },
  )

  it('S-16, H-4: createdBy is the user, else the service user, else null', () => {
    expect(normalizeCaller({ user: 'petra.k' }, 'svc').createdBy).toBe('petra.k')
    expect(normalizeCaller({}, 'svc').createdBy).toBe('svc')
    expect(normalizeCaller(undefined, 'svc').createdBy).toBe('svc')
    expect(normalizeCaller({}).createdBy).toBeNull()
  })

  it('S-16: the service user never becomes the user', () => {
    expect(normalizeCaller({}, 'svc').user).toBeNull()
  })

  it('CASE-27: is a deep-frozen copy that later changes of the original do not reach', () => {
    const caller = { user: 'petra.k', metadata: { trace: { id: 't1' }, tags: ['a'] } }
    const resolved = normalizeCaller(caller)
    caller.user = 'mallory'
    caller.metadata.trace.id = 't2'
    caller.metadata.tags.push('b')
    expect(resolved.user).toBe('petra.k')
    expect(resolved.metadata).toEqual({ trace: { id: 't1' }, tags: ['a'] })
    expect(() => Object.assign(resolved, { user: 'mallory' })).toThrow(TypeError)
    expect(() => Object.assign(resolved.metadata?.trace as object, { id: 'x' })).toThrow(TypeError)
    expect(() => (resolved.metadata?.tags as unknown as string[]).push('c')).toThrow(TypeError)
  })

  it('unknown keys and unfit values are refused, all faults at once', () => {
    const error = fault(() =>
      normalizeCaller({
        user: 7,
        tenant: '',
        audience: 'admin',
        appId: ['x'],
        host: 'x'.repeat(1001),
        action: 'a\u0000b',
        module: '\udc00',
        username: 'petra.k',
        createdBy: 'mallory',
        metadata: [],
      } as unknown as Caller),
    )
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.reason).toBe('caller.invalid')
    expect(error.details?.count).toBe(10)
    for (const key of [
      'user',
      'tenant',
      'audience',
      'appId',
      'host',
      'action',
      'module',
      'username',
      'createdBy',
      'metadata',
    ]) {
      expect(error.message).toContain(`- ${key}: `)
    }
  })

  it('a text of 1 000 characters is accepted, null and undefined are left out', () => {
    const user = 'x'.repeat(1000)
    expect(normalizeCaller({ user, tenant: null, appId: undefined, audience: null })).toMatchObject({
      user,
      tenant: null,
      appId: null,
      audience: 'db',
    })
  })

  it.each([['petra.k'], [[]], [7], [new (class Caller {})()]])(
    'a caller that is no plain object is refused (%#)',
    (caller) => {
      expect(fault(() => normalizeCaller(caller as never)).code).toBe('INVALID_CONFIG')
    },
  )

  it('CASE-22: keys that reach a prototype are refused by name, nested ones too', () => {
    expect(fault(() => normalizeCaller(JSON.parse('{"__proto__": {"user": "root"}}'))).message).toContain(
      '- __proto__: ',
    )
    const nested = JSON.parse(
      '{"metadata": {"a": [{"__proto__": {"polluted": true}}], "constructor": 1, "prototype": 2}}',
    )
    const error = fault(() => normalizeCaller(nested))
    expect(error.message).toContain('- metadata.a.0.__proto__: ')
    expect(error.message).toContain('- metadata.constructor: ')
    expect(error.message).toContain('- metadata.prototype: ')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('metadata that is not plain JSON, too deep, cyclic or too large is refused', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
    for (const metadata of [{ at: new Date(0) }, { n: Number.NaN }, { f: () => 1 }, { s: '\ud800' }, cyclic, deep]) {
      expect(fault(() => normalizeCaller({ metadata: metadata as never })).reason).toBe('caller.invalid')
    }
    const text = 'x'.repeat(16_383)
    expect(normalizeCaller({ metadata: { a: text } }).metadata).toEqual({ a: text })
    expect(fault(() => normalizeCaller({ metadata: { a: `${text}x` } })).message).toContain('16384')
    expect(fault(() => normalizeCaller({ metadata: { a: new Array(100_000).fill(null) } })).message).toContain('16384')
  })

  it('a field is read once: what was checked is what is kept', () => {
    let reads = 0
    const caller = {
      get user(): unknown {
        reads += 1
        return reads === 1 ? 'petra.k' : { evil: true }
      },
    }
    expect(normalizeCaller(caller as never).user).toBe('petra.k')
  })
})
