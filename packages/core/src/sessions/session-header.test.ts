import { describe, expect, it } from 'vitest'
import { normalizeCaller } from '../context/caller.js'
import { environmentFields } from '../context/environment.js'
import { closeTurn, continueTurn, openTurn } from './session-header.js'

const environment = environmentFields(normalizeCaller({ user: 'petra.k', tenant: 'acme' }), () => ({ host: 'node-1' }))
const other = environmentFields(normalizeCaller({ user: 'petra.k', tenant: 'acme', ipAddress: '10.0.0.9' }), () => ({
  host: 'node-2',
}))
const opening = { sessionId: 's1', agentId: 'a1', environment, runContext: { clerk: 'petra.k' }, at: 1000 }

describe('openTurn', () => {
  it('S-25, S-26: the first turn makes the header with the environment of the opening turn', () => {
    expect(openTurn(undefined, opening)).toEqual({
      ...environment,
      sessionId: 's1',
      rootAgentId: 'a1',
      title: null,
      feedbackRating: null,
      feedbackComment: null,
      feedbackAt: null,
      status: 'running',
      turnCount: 1,
      messageCount: 0,
      inputTokens: 0,
      outputTokens: 0,
      runContext: { clerk: 'petra.k' },
      pausedExecutionId: null,
      startedAt: 1000,
      lastActivityAt: 1000,
      updatedAt: 1000,
    })
  })

  it('S-26, S-27: a later turn counts, and keeps agent, environment, title and start', () => {
    const first = { ...openTurn(undefined, opening), title: 'Invoice 4711', feedbackRating: 'up' as const }
    const second = openTurn(first, { ...opening, agentId: 'a2', environment: other, at: 2000 })
    expect(second).toMatchObject({
      rootAgentId: 'a1',
      host: 'node-1',
      ipAddress: null,
      title: 'Invoice 4711',
      feedbackRating: 'up',
      turnCount: 2,
      startedAt: 1000,
      lastActivityAt: 2000,
      updatedAt: 2000,
    })
  })

  it('R-5, R-6, R-16: keys that a later turn added are bound to the session from then on', () => {
    const first = openTurn(undefined, opening)
    const second = openTurn(first, { ...opening, runContext: { clerk: 'petra.k', invoice: 7 }, at: 2000 })
    expect(second.runContext).toEqual({ clerk: 'petra.k', invoice: 7 })
    expect(first.runContext).toEqual({ clerk: 'petra.k' })
  })
})

describe('closeTurn', () => {
  const running = openTurn(undefined, opening)

  it('S-21: adds the tokens of the whole tree to the totals of the session', () => {
    const first = closeTurn(running, {
      status: 'completed',
      inputTokens: 10,
      outputTokens: 3,
      messageCount: 4,
      at: 1500,
    })
    expect(first).toMatchObject({
      status: 'completed',
      inputTokens: 10,
      outputTokens: 3,
      messageCount: 4,
      lastActivityAt: 1500,
    })
    const second = closeTurn(openTurn(first, { ...opening, at: 2000 }), {
      status: 'completed',
      inputTokens: 5,
      outputTokens: 1,
      messageCount: 6,
      at: 2500,
    })
    expect(second).toMatchObject({ turnCount: 2, inputTokens: 15, outputTokens: 4, messageCount: 6 })
  })

  it.each(['failed', 'timeout', 'aborted'] as const)(
    'S-28: a turn that ended %s counts as a turn and sets the status',
    (status) => {
      const closed = closeTurn(running, { status, inputTokens: null, outputTokens: null, at: 1500 })
      expect(closed).toMatchObject({ status, turnCount: 1, messageCount: 0 })
    },
  )

  it('S-22: tokens that were not reported leave the total as it is', () => {
    const closed = closeTurn(running, { status: 'failed', inputTokens: null, outputTokens: 2, at: 1500 })
    expect(closed).toMatchObject({ inputTokens: 0, outputTokens: 2 })
    expect(
      closeTurn({ ...running, inputTokens: null }, { status: 'failed', inputTokens: 3, outputTokens: 0, at: 1 })
        .inputTokens,
    ).toBe(3)
  })

  it('S-26: a paused turn holds the session until it goes on, and is counted once', () => {
    const paused = closeTurn(running, {
      status: 'paused',
      pausedExecutionId: 'x1',
      inputTokens: 4,
      outputTokens: 1,
      at: 1500,
    })
    expect(paused).toMatchObject({ status: 'paused', pausedExecutionId: 'x1', turnCount: 1, inputTokens: 4 })
    const going = continueTurn(paused, 1600)
    expect(going).toMatchObject({ status: 'running', pausedExecutionId: null, turnCount: 1, lastActivityAt: 1600 })
    const closed = closeTurn(going, { status: 'completed', inputTokens: 6, outputTokens: 1, at: 1700 })
    expect(closed).toMatchObject({ pausedExecutionId: null, inputTokens: 10, outputTokens: 2 })
  })

  it('is pure: the header given is not changed', () => {
    const frozen = Object.freeze(running)
    openTurn(frozen, { ...opening, at: 9 })
    closeTurn(frozen, { status: 'failed', inputTokens: 1, outputTokens: 1, at: 9 })
    expect(frozen.turnCount).toBe(1)
  })
})
