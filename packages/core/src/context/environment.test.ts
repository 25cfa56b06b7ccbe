import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { normalizeCaller } from './caller.js'
import { createSystemEnvironment, environmentFields } from './environment.js'

describe('environmentFields', () => {
  it('S-14: captures every field and a snapshot of those that were given', () => {
    const caller = normalizeCaller({
      user: 'petra.k',
      tenant: 'acme',
      audience: 'authenticated',
      appId: '100',
      pageId: '7',
      appSessionId: 's-1',
      ipAddress: '10.0.0.1',
      module: 'desk',
      action: 'ask',
      clientIdentifier: 'petra.k:s-1',
      metadata: { trace: 't1' },
    })
    const fields = environmentFields(caller, () => ({ osUser: 'app', host: 'node-1' }))
    const named = {
      createdBy: 'petra.k',
      tenant: 'acme',
      audience: 'authenticated',
      appUser: 'petra.k',
      appId: '100',
      appSessionId: 's-1',
      appPageId: '7',
      ipAddress: '10.0.0.1',
      host: 'node-1',
      osUser: 'app',
      module: 'desk',
      action: 'ask',
      clientIdentifier: 'petra.k:s-1',
    }
    expect(fields).toEqual({ ...named, envContext: { ...named, metadata: { trace: 't1' } } })
  })

  it('S-16, H-7: a background call has the service user as creator, the audience db and no application fields', () => {
    const fields = environmentFields(normalizeCaller(undefined, 'svc'), () => ({}))
    expect(fields).toMatchObject({
      createdBy: 'svc',
      audience: 'db',
      appUser: null,
      appId: null,
      appSessionId: null,
      appPageId: null,
    })
  })

  it('S-17: values that nobody gave are null and absent from the snapshot', () => {
    const fields = environmentFields(normalizeCaller(undefined), () => ({ osUser: null }))
    expect(fields.osUser).toBeNull()
    expect(fields.host).toBeNull()
    expect(fields.envContext).toEqual({ audience: 'db' })
  })

  it("S-14: the caller's host is that of the client and wins over the machine's", () => {
    expect(environmentFields(normalizeCaller({ host: 'laptop' }), () => ({ host: 'node-1' })).host).toBe('laptop')
  })

  it('CASE-27: is frozen, snapshot included', () => {
    const fields = environmentFields(normalizeCaller({ user: 'petra.k' }), () => ({}))
    expect(() => Object.assign(fields, { createdBy: 'x' })).toThrow(TypeError)
    expect(() => Object.assign(fields.envContext, { createdBy: 'x' })).toThrow(TypeError)
  })
})

describe('createSystemEnvironment', () => {
  it('S-17: reads the machine once', () => {
    const read = createSystemEnvironment()
    expect(read().host).toBe(hostname())
    expect(read()).toBe(read())
  })
})
