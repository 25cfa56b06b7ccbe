import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import { effectCounter } from './effect-counter.js'
import type { JsonValue } from '../internal/json.js'

const context = (effectId: string, more: object = {}) => ({
  effectId,
  rootExecutionId: 'root-1',
  requestId: 'call-1',
  sessionId: 's-1',
  ...more,
})

function hostOf(store = createMemoryStore(), runs = true) {
  let state: JsonValue | undefined = { own: 'kept' }
  const host = {
    storage: { documents: store.documents('plugin:counter'), log: store.log('plugin:counter') },
    run: runs
      ? {
          state: {
            get: () => state,
            update: <Next extends JsonValue>(change: (current: JsonValue | undefined) => Next): Next => {
              const next = change(state)
              state = next
              return next
            },
          },
        }
      : undefined,
  }
  return { host, state: () => state }
}

describe('effectCounter', () => {
  it('B-4, B-9: counts each effect once, however often its gates are asked', async () => {
    for (const unit of ['run', 'call', 'session', 'runtime'] as const) {
      const counter = effectCounter(hostOf().host, 'attempts', unit)
      expect(await counter.count(context('a'))).toBe(1)
      expect(await counter.count(context('a'))).toBe(1)
      expect(await counter.count(context('b'))).toBe(2)
    }
  })

  it('B-7, B-9: starts anew where its unit begins, and keeps the other state of the plugin', async () => {
    const { host, state } = hostOf()
    const perRun = effectCounter(host, 'attempts', 'run')
    const perCall = effectCounter(host, 'other', 'call')
    const perSession = effectCounter(host, 'attempts', 'session')
    expect(await perRun.count(context('a'))).toBe(1)
    expect(await perRun.count(context('b', { rootExecutionId: 'root-2' }))).toBe(1)
    expect(await perCall.count(context('a'))).toBe(1)
    expect(await perCall.count(context('b', { requestId: 'call-2' }))).toBe(1)
    expect(await perSession.count(context('a'))).toBe(1)
    expect(await perSession.count(context('b', { sessionId: 's-2' }))).toBe(1)
    expect(state()).toMatchObject({ own: 'kept' })
  })

  it('B-9: a session goes on counting in another runtime on the same store', async () => {
    const store = createMemoryStore()
    await effectCounter(hostOf(store).host, 'attempts', 'session').count(context('a'))
    expect(await effectCounter(hostOf(store).host, 'attempts', 'session').count(context('b'))).toBe(2)
  })

  it('B-9: refuses a unit that the call does not have, in place of a shared bucket', async () => {
    const counter = effectCounter(hostOf().host, 'attempts', 'session')
    await expect(counter.count(context('a', { sessionId: null }))).rejects.toMatchObject({ code: 'SCOPE_UNRESOLVED' })
    await expect(
      effectCounter(hostOf(undefined, false).host, 'attempts', 'run').count(context('a')),
    ).rejects.toMatchObject({ code: 'SCOPE_UNRESOLVED' })
  })
})
