import { describe, expect, it } from 'vitest'
import type { Caller } from '../context/caller.js'
import { normalizeCaller } from '../context/caller.js'
import { environmentFields } from '../context/environment.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { CallArguments } from './session-access.js'
import { checkCallArguments, checkTurn } from './session-access.js'
import { openTurn } from './session-header.js'

function fault(run: () => unknown): SluiceError {
  try {
    run()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const headerOf = (opener: Caller | undefined) =>
  openTurn(undefined, {
    sessionId: 's1',
    agentId: 'a1',
    environment: environmentFields(normalizeCaller(opener, 'svc'), () => ({})),
    runContext: {},
    at: 0,
  })
const turn =
  (opener: Caller | undefined, caller: Caller | undefined, followUp = false) =>
  () =>
    checkTurn({ sessionId: 's1', header: headerOf(opener), caller: normalizeCaller(caller, 'svc'), followUp })

describe('checkTurn', () => {
  it('A-33: a session that does not exist yet is opened by its first turn', () => {
    checkTurn({ sessionId: 'mine', header: undefined, caller: normalizeCaller({ user: 'petra.k' }), followUp: false })
  })

  it('design 4.3: the tenant and user of the first turn take later turns', () => {
    turn({ user: 'petra.k', tenant: 'acme' }, { user: 'petra.k', tenant: 'acme' })()
    turn({ user: 'petra.k' }, { user: 'petra.k', audience: 'authenticated' }, true)()
    turn(undefined, undefined)()
    turn(undefined, {})()
  })

  it.each<[string, Caller | undefined, Caller | undefined]>([
    ['another user', { user: 'petra.k' }, { user: 'mallory' }],
    ['the same user of another tenant', { user: 'petra.k', tenant: 'acme' }, { user: 'petra.k', tenant: 'other' }],
    ['the same user without a tenant', { user: 'petra.k', tenant: 'acme' }, { user: 'petra.k' }],
    ['a caller without a user', { user: 'petra.k' }, undefined],
    ['a user on the session of a job', undefined, { user: 'petra.k' }],
    ['a user named as the service user on the session of a job', undefined, { user: 'svc' }],
    ['an anonymous visitor on the session of a job', undefined, { audience: 'public' }],
    ['a job on the session of an anonymous visitor', { audience: 'public' }, undefined],
  ])('design 4.3: %s gets SESSION_FORBIDDEN', (_who, opener, caller) => {
    expect(fault(turn(opener, caller)).code).toBe('SESSION_FORBIDDEN')
  })

  it("design 4.3: for a follow-up, somebody else's session cannot be told from one that does not exist", () => {
    const foreign = fault(turn({ user: 'petra.k' }, { user: 'mallory' }, true))
    const unknown = fault(() =>
      checkTurn({ sessionId: 's1', header: undefined, caller: normalizeCaller({ user: 'mallory' }), followUp: true }),
    )
    expect(foreign.toJSON()).toEqual(unknown.toJSON())
  })

  it('design 4.1: a session with a paused run is busy, for its owner; others learn nothing of it', () => {
    const header = { ...headerOf({ user: 'petra.k' }), pausedExecutionId: 'x1' }
    const ask = (user: string) => () =>
      checkTurn({ sessionId: 's1', header, caller: normalizeCaller({ user }), followUp: true })
    const busy = fault(ask('petra.k'))
    expect(busy.code).toBe('SESSION_BUSY')
    expect(busy.details).toEqual({ sessionId: 's1', pausedExecutionId: 'x1' })
    expect(fault(ask('mallory')).code).toBe('SESSION_FORBIDDEN')
  })
})

describe('checkCallArguments', () => {
  const call: CallArguments = {
    agentCode: 'ap_desk',
    agentType: 'profile',
    accepts: { output: true, followUp: true, files: true },
    hasOutput: false,
    hasFiles: false,
    followUp: undefined,
    sessionId: undefined,
  }
  const nothing = { output: false, followUp: false, files: false }

  it('A-36 to A-38: a profile agent takes an answer schema, a follow-up in a session, and files', () => {
    checkCallArguments({ ...call, hasOutput: true, hasFiles: true, followUp: 'more', sessionId: 's1' })
    checkCallArguments({ ...call, accepts: nothing })
  })

  it.each<[string, Partial<CallArguments>, string]>([
    ['A-36: an answer schema for a type that takes none', { hasOutput: true, accepts: nothing }, 'output.type'],
    [
      'A-37: a follow-up for a type that takes none',
      { followUp: 'more', sessionId: 's1', accepts: nothing },
      'follow_up.type',
    ],
    ['A-37: a follow-up without a session', { followUp: 'more' }, 'follow_up.no_session'],
    ['A-37: an empty follow-up without a session', { followUp: '' }, 'follow_up.no_session'],
    ['A-38: files for a type that takes none', { hasFiles: true, accepts: nothing }, 'files.type'],
  ])('%s is refused with its reason', (_what, change, reason) => {
    const error = fault(() => checkCallArguments({ ...call, ...change }))
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.reason).toBe(reason)
    expect(error.message).toContain("'ap_desk'")
  })

  it('all faults of one call are told at once', () => {
    const error = fault(() =>
      checkCallArguments({ ...call, accepts: nothing, hasOutput: true, hasFiles: true, followUp: 'x' }),
    )
    expect(error.details?.count).toBe(3)
  })
})
