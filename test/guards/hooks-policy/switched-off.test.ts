import { createMemoryStore } from '@sluice/core'
import { createSwitchControl, killSwitch } from '@sluice/hooks-policy'
import { failingStore, fakeClock, hang, latch, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { RigOptions } from '../../hooks/support/rig.js'
import { caught, desk, notes, rig, watcher } from '../../hooks/support/rig.js'

const NAMESPACE = 'plugin:hooks-policy/kill-switch'
const OPS = { who: 'ops', reason: 'looping' }

async function switched(script: Parameters<typeof rig>[0], options: RigOptions & Parameters<typeof notes>[0] = {}) {
  const { handler, ...rest } = options
  const { tool, calls } = notes(handler === undefined ? {} : { handler })
  const given = await rig(script, { agents: [desk([tool])], plugins: [killSwitch()], ...rest })
  const control = given.runtime.plugin(killSwitch)
  return { ...given, calls, control }
}

describe('killSwitch in a run', () => {
  it('B-2: set while the application runs, it stops the next effect, whatever the run has done by then', async () => {
    const given = await switched([reply.toolCall('write_note', { text: 'a' })], {
      handler: async () => {
        await given.control.on({ agent: 'desk' }, OPS)
        return 'written'
      },
    })
    const { code, error } = await given.run()
    expect([code, given.calls, given.provider.calls.length]).toEqual(['KILL_SWITCH_ON', ['a'], 1])
    expect(error?.partial?.toolCalls).toMatchObject([{ toolCode: 'write_note', status: 'ok' }])
    expect((await given.run()).code).toBe('KILL_SWITCH_ON')
    await given.control.off({ agent: 'desk' }, OPS)
  })

  it.each([
    ['everything', 'all' as const],
    ['its agent', { agent: 'desk' }],
    ['its user', { user: 'petra.k' }],
    ['its tenant', { tenant: 'acme' }],
  ])('a request to a model that is in flight is aborted when %s is switched off', async (_what, target) => {
    const given = await switched([hang()])
    const running = caught(
      given.runtime.execute({ agent: 'desk', caller: { user: 'petra.k', tenant: 'acme' } }) as Promise<never>,
    )
    await given.clock.tick(2_500)
    expect(given.provider.open).toBe(1)
    await given.control.on(target, OPS)
    const { code } = await given.clock.settle(running)
    expect([code, given.provider.open]).toEqual(['KILL_SWITCH_ON', 0])
  })

  it('a handler that is in flight is told to stop when its tool is switched off', async () => {
    const entered = latch()
    let aborted = false
    const given = await switched([reply.toolCall('write_note', { text: 'a' })], {
      handler: async (_args, tool) => {
        void entered.wait()
        await new Promise((_resolve, reject) => {
          tool.signal.addEventListener('abort', () => {
            aborted = true
            reject(new Error('stopped'))
          })
        })
      },
    })
    const running = caught(given.runtime.execute({ agent: 'desk' }) as Promise<never>)
    await entered.reached()
    await given.control.on({ tool: 'write_note' }, OPS)
    const { code } = await given.clock.settle(running)
    expect([code, aborted]).toEqual(['KILL_SWITCH_ON', true])
  })

  it('plain calls outside any agent are stopped too', async () => {
    const given = await switched([])
    await given.control.on('all', OPS)
    await expect(given.runtime.generateText({ model: 'scripted/m', prompt: 'Hello.' })).rejects.toMatchObject({
      code: 'KILL_SWITCH_ON',
    })
  })

  it('another process that sets it stops this one', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const given = await switched(['Hello.'], { clock, store })
    expect((await given.run()).run?.text).toBe('Hello.')
    await createSwitchControl(store.documents(NAMESPACE), store.log(NAMESPACE)).on('all', OPS)
    expect((await given.run()).code).toBe('KILL_SWITCH_ON')
  })

  it('a model call costs one read and no transaction', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [])
    const given = await switched(['Hello.'], { clock, store })
    const before = store.calls.length
    await given.run()
    const calls = store.calls.slice(before).filter((call) => call.startsWith('documents.'))
    // one before the run, one before its request
    expect(calls).toEqual(['documents.getMany', 'documents.getMany'])
  })

  it('64 runs behind a switch that is set while they wait: none reaches the provider', async () => {
    const clock = fakeClock()
    const below = createMemoryStore({ clock })
    const store = failingStore(below, [{ on: 'documents.getMany', nth: 1, as: 'hang' }])
    const given = await switched([], { clock, store })
    const runs = Array.from({ length: 64 }, () => caught(given.runtime.execute({ agent: 'desk' }) as Promise<never>))
    await clock.tick(1)
    await createSwitchControl(below.documents(NAMESPACE), below.log(NAMESPACE)).on('all', OPS)
    store.release()
    const codes = await clock.settle(Promise.all(runs))
    expect(new Set(codes.map(({ code }) => code))).toEqual(new Set(['KILL_SWITCH_ON']))
    expect(given.provider.calls).toHaveLength(0)
  })

  it('a store that goes down during a run stops it under a code of its own', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [
      ...[3, 4, 5, 6, 7].map((nth) => ({ on: 'documents.getMany' as const, nth, as: 'hang' as const })),
    ])
    const seen = watcher()
    const { tool, calls } = notes()
    const given = await rig([reply.toolCall('write_note', { text: 'a' })], {
      clock,
      store,
      agents: [desk([tool])],
      plugins: [killSwitch(), seen.plugin],
    })
    const ended = await given.run()
    expect([ended.code, calls]).toEqual(['KILL_SWITCH_UNREADABLE', []])
    expect(seen.onStop.map(({ answer, code }) => [answer, code])).toEqual([['vetoed', 'KILL_SWITCH_UNREADABLE']])
    store.release()
  })
})
