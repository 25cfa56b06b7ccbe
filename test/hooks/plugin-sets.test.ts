import type { Hooks, PluginInstance } from '@sluice/core'
import { definePlugin, shadow, SluiceError, Stage, Veto } from '@sluice/core'
import { latch, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caught, desk, gate, notes, plugin, rig } from './support/rig.js'

const deny = (code: string) => () => {
  throw new Veto(code, 'No.')
}
const denies = (code: string) => gate('beforeExecution', deny(code), { name: code.toLowerCase() })

async function faultOf(promise: Promise<unknown>): Promise<SluiceError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!SluiceError.isInstance(error)) throw new Error(`not refused by name: ${String(error)}`)
  return error
}

function attempt(fn: () => unknown): void {
  try {
    fn()
  } catch {
    // refused: the hooks are sealed
  }
}

describe('H-29, H-33: what is wrong with a plugin says what to do', () => {
  const says: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['a promise', Promise.resolve(denies('A')), ['is a promise, not a plugin', 'has to be awaited']],
    ['an object', { beforeToolCall() {} }, ['is an object, not a plugin', 'definePlugin']],
    [
      'no hookApi',
      definePlugin({ name: 'older', apply: (hooks: Hooks) => hooks.onStop.tap('x', () => {}) } as never)(),
      ['"older" does not say which hookApi it is written for', 'Add hookApi: 1'],
    ],
    [
      'a point that there is not',
      plugin('typo', (hooks) => (hooks as never as Record<string, Hooks['onStop']>).beforeToolcall?.tap('x', () => {})),
      ['taps no hook point'],
    ],
    [
      'a point that there is not, in plain JavaScript',
      plugin('typo', (hooks) =>
        (hooks as never as { beforeToolcall: Hooks['onStop'] }).beforeToolcall.tap('x', () => {}),
      ),
      ['"typo" failed in apply', 'a point that there is not', 'beforeToolCall, '],
    ],
  ]

  it.each(says)('%s', async (_, entry, texts) => {
    const error = await faultOf(rig([], { plugins: [entry as PluginInstance] }))
    const text = `${error.message} ${error.hint}`
    for (const part of texts) expect(text).toContain(part)
  })
})

describe('H-29, H-33: plugins of a runtime', () => {
  const refused: readonly (readonly [string, unknown, string])[] = [
    ['no list', {}, 'HOOK_REGISTRATION'],
    ['a string', ['budget'], 'HOOK_REGISTRATION'],
    ['a plain object with taps', [{ beforeToolCall() {} }], 'HOOK_REGISTRATION'],
    ['a factory that was not called', [definePlugin({ name: 'x', hookApi: 1, apply() {} })], 'HOOK_REGISTRATION'],
    ['a promise of a plugin', [Promise.resolve(denies('A'))], 'HOOK_REGISTRATION'],
    ['a plugin that taps nothing', [plugin('idle', () => undefined)], 'HOOK_REGISTRATION'],
    [
      'a plugin that taps only when apply is over',
      [plugin('late', (hooks) => void setImmediate(() => attempt(() => hooks.onStop.tap('x', () => {}))))],
      'HOOK_REGISTRATION',
    ],
    [
      'another hookApi',
      [definePlugin({ name: 'future', hookApi: 2, apply: (hooks) => hooks.onStop.tap('x', () => {}) })()],
      'HOOK_REGISTRATION',
    ],
    ['no apply', [definePlugin({ name: 'empty', hookApi: 1, apply: undefined as never })()], 'HOOK_REGISTRATION'],
    [
      'a name that is none',
      [definePlugin({ name: 'No Name', hookApi: 1, apply: (hooks) => hooks.onStop.tap('x', () => {}) })()],
      'HOOK_REGISTRATION',
    ],
    [
      'apply that throws',
      [
        plugin('broken', () => {
          throw new Error('cannot connect')
        }),
      ],
      'HOOK_REGISTRATION',
    ],
    ['apply that rejects', [plugin('broken', () => Promise.reject(new Error('cannot connect')))], 'HOOK_REGISTRATION'],
    [
      'apply that returns something else',
      [
        plugin('odd', (hooks) => {
          hooks.onStop.tap('x', () => {})
          return 'done'
        }),
      ],
      'HOOK_REGISTRATION',
    ],
    [
      'a dispose that is no function',
      [
        plugin('odd', (hooks) => {
          hooks.onStop.tap('x', () => {})
          return { dispose: true }
        }),
      ],
      'HOOK_REGISTRATION',
    ],
    ['the same name twice', [denies('A'), denies('A')], 'DUPLICATE_NAME'],
    [
      'options of a plugin without a schema',
      [
        definePlugin({ name: 'plain', hookApi: 1, apply: (hooks) => hooks.onStop.tap('x', () => {}) })({
          limit: 1,
        } as never),
      ],
      'INVALID_CONFIG',
    ],
  ]
  it.each(refused)('%s: the runtime is refused by name', async (_what, plugins, code) => {
    const error = await faultOf(rig([], { plugins: plugins as never }))
    expect(error.code).toBe(code)
  })

  it('a runtime whose plugins cannot be set up sends, asks and stores nothing, and disposes what it had applied', async () => {
    const disposed: string[] = []
    const good = (name: string) =>
      plugin(name, (hooks) => {
        hooks.onStop.tap('x', () => {})
        return { dispose: () => void disposed.push(name) }
      })
    const error = await faultOf(rig([], { plugins: [good('a'), good('b'), plugin('idle', () => undefined)] }))
    expect([error.code, disposed]).toEqual(['HOOK_REGISTRATION', ['b', 'a']])
  })

  it('all faults of a list are told at once', async () => {
    const error = await faultOf(
      rig([], { plugins: [plugin('one', () => undefined), denies('A'), denies('A'), 7 as never] }),
    )
    expect(error.message).toContain('3 faults in the plugins')
    for (const part of ['"one" taps no hook point', '"a" is in the list twice', 'is a number'])
      expect(error.message).toContain(part)
  })

  it('falsy entries are left out and nested lists are flattened, in order', async () => {
    const order: string[] = []
    const note = (name: string) => gate('beforeExecution', () => void order.push(name), { name })
    const given = await rig(['x'], { plugins: [false, note('a'), null, [note('b'), [note('c'), undefined]], 0, ''] })
    await given.run()
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('options are validated when the plugin is applied, all issues at once, and reach apply frozen, as the schema made them', async () => {
    let got: unknown
    const limit = definePlugin({
      name: 'limit',
      hookApi: 1,
      options: z.object({
        most: z.number().int().positive(),
        per: z.enum(['run', 'day']).default('run'),
        tags: z.array(z.string()).default([]),
      }),
      apply(hooks, host) {
        got = host.options
        hooks.onStop.tap('x', () => {})
      },
    })
    const error = await faultOf(rig([], { plugins: [limit({ most: -1, per: 'week' as never })] }))
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.details).toMatchObject({ plugin: 'limit', issues: [{ path: 'most' }, { path: 'per' }] })

    const options = { most: 3, tags: ['a'] }
    await rig([], { plugins: [limit(options)] })
    expect(got).toEqual({ most: 3, per: 'run', tags: ['a'] })
    expect(Object.isFrozen(got) && Object.isFrozen((got as { tags: object }).tags)).toBe(true)
    options.tags.push('b')
    expect(got).toMatchObject({ tags: ['a'] })
    expect(Object.isFrozen(options)).toBe(false)
  })

  it('apply may be asynchronous, and its api is found by the factory', async () => {
    const counter = definePlugin({
      name: 'counter',
      hookApi: 1,
      async apply(hooks) {
        await Promise.resolve()
        let count = 0
        hooks.beforeExecution.tap('count', () => void count++)
        return { api: { count: () => count } }
      },
    })
    const given = await rig(['x', 'y'], { plugins: [counter()] })
    await given.run()
    await given.run()
    expect(given.runtime.plugin(counter).count()).toBe(2)
    const other = definePlugin({ name: 'other', hookApi: 1, apply: (hooks) => hooks.onStop.tap('x', () => {}) })
    expect(() => given.runtime.plugin(other)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })

  it('two instances of one plugin need an id, share nothing, and are read back by it', async () => {
    const limit = definePlugin({
      name: 'limit',
      hookApi: 1,
      options: z.object({ most: z.number() }),
      apply(hooks, host) {
        hooks.beforeExecution.tap(
          'count',
          () => void host.run?.state.update((current) => ((current as number | undefined) ?? 0) + host.options.most),
        )
        return { api: { most: host.options.most, state: () => host.storage } }
      },
    })
    const given = await rig(['x'], {
      plugins: [limit({ most: 1 }, { id: 'small' }), limit({ most: 10 }, { id: 'large' })],
    })
    expect([given.runtime.plugin(limit, 'small').most, given.runtime.plugin(limit, 'large').most]).toEqual([1, 10])
    expect(() => given.runtime.plugin(limit)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', reason: 'plugin.ambiguous' }),
    )
    await given.runtime.plugin(limit, 'small').state().documents.put(['seen'], { by: 'small' })
    expect(await given.runtime.plugin(limit, 'large').state().documents.get(['seen'])).toBeUndefined()
    const { run } = await given.run()
    const [receipt] = (await given.receipts(run?.executionId ?? '')).filter(({ effect }) => effect === 'execution')
    expect(receipt?.askings[0]?.gates.map((row) => row.plugin)).toEqual(['limit#small', 'limit#large'])
  })

  it.each(['', 'with space', 'x'.repeat(65), '../up', 7 as never])('the id %j is refused', async (id) => {
    const limit = definePlugin({ name: 'limit', hookApi: 1, apply: (hooks) => hooks.onStop.tap('x', () => {}) })
    expect((await faultOf(rig([], { plugins: [limit(undefined, { id })] }))).code).toBe('HOOK_REGISTRATION')
  })
})

describe('CASE-01: no option makes a gate fail open', () => {
  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5000', null, 2 ** 31])(
    'hookTimeoutMs %j is refused',
    async (hookTimeoutMs) => {
      const error = await faultOf(rig([], { timeouts: { hookTimeoutMs: hookTimeoutMs as number } }))
      expect([error.code, error.message.includes('timeouts.hookTimeoutMs')]).toEqual(['INVALID_CONFIG', true])
    },
  )

  it.each(['failOpen', 'gates', 'hooks'])('an option %s does not exist', async (name) => {
    expect((await faultOf(rig([], { [name]: true } as never))).code).toBe('INVALID_CONFIG')
  })

  it.each(['tool:write_note', 'shadow:rules', 'rules#main', 'sluice hooks', ''])(
    'a plugin cannot take the name "%s", which would stand for another in receipts',
    async (name) => {
      const named = definePlugin({ name, hookApi: 1, apply: (hooks) => hooks.onStop.tap('x', () => {}) })
      expect((await faultOf(rig([], { plugins: [named()] }))).code).toBe('HOOK_REGISTRATION')
    },
  )
})

describe('H-32: order', () => {
  it('gates are asked by stage, then in order of registration, whatever the way of tapping', async () => {
    const order: string[] = []
    const note = (name: string, stage: number, via: 'tap' | 'tapPromise' | 'tapAsync') =>
      gate(
        'beforeModelCall',
        (_context, ...rest: unknown[]) => {
          order.push(name)
          if (via === 'tapAsync') (rest[0] as () => void)()
          return via === 'tapPromise' ? Promise.resolve() : undefined
        },
        { name, stage, via },
      )
    const given = await rig(['x'], {
      plugins: [
        note('record', Stage.record, 'tap'),
        note('limit-1', Stage.limit, 'tapAsync'),
        note('identity', Stage.identity, 'tapPromise'),
        note('limit-2', Stage.limit, 'tap'),
        note('between', -1.5, 'tap'),
        note('policy', Stage.policy, 'tapAsync'),
        note('approve', Stage.approve, 'tap'),
        note('reserve', Stage.reserve, 'tapPromise'),
      ],
    })
    await given.run()
    expect(order).toEqual(['identity', 'policy', 'between', 'limit-1', 'limit-2', 'approve', 'reserve', 'record'])
  })

  it('at stage record a gate sees what all gates before it answered, also those of the points before; elsewhere nothing', async () => {
    const { tool } = notes({ authorize: () => undefined })
    const told: unknown[] = []
    const note = ({ answers }: { answers: readonly { plugin: string; point: string; answer: string }[] | undefined }) =>
      void told.push(answers?.map((row) => `${row.plugin} ${row.point} ${row.answer}`))
    const given = await rig([reply.toolCall('write_note'), 'x'], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeToolCall', () => undefined, { name: 'rule' }),
        gate('inspectToolInput', note, { name: 'money', stage: Stage.reserve }),
        gate('inspectToolInput', note, { name: 'audit', stage: Stage.record }),
        gate('inspectToolInput', note, { name: 'audit-too', stage: Stage.record }),
      ],
    })
    await given.run()
    const before = ['tool:write_note authorize passed', 'rule beforeToolCall passed', 'money inspectToolInput passed']
    expect(told).toEqual([undefined, before, [...before, 'audit inspectToolInput passed']])
  })

  it('what a gate at stage record is shown cannot be changed', async () => {
    const changed: boolean[] = []
    const given = await rig(['x'], {
      plugins: [
        gate('beforeModelCall', () => undefined, { name: 'rule' }),
        gate(
          'beforeModelCall',
          ({ answers }) => {
            changed.push(
              Reflect.set((answers as object[])[0] as object, 'answer', 'vetoed'),
              Reflect.set(answers as object, 0, 'x'),
            )
          },
          { name: 'audit', stage: Stage.record },
        ),
      ],
    })
    const { run } = await given.run()
    expect(changed).toEqual([false, false])
    const [receipt] = (await given.receipts(run?.executionId ?? '')).filter(({ effect }) => effect === 'model_call')
    expect(receipt?.askings[0]?.gates.map(({ answer }) => answer)).toEqual(['passed', 'passed'])
  })
})

describe('H-29, H-30, H-35: setHooks', () => {
  it('replaces the plugins for runs that start afterwards; null goes back to those of createRuntime', async () => {
    const given = await rig(['x', 'y'], { plugins: [gate('beforeExecution', () => undefined, { name: 'base' })] })
    expect((await given.run()).run?.status).toBe('completed')
    await given.runtime.setHooks([denies('OVERRIDE')])
    expect((await given.run()).code).toBe('OVERRIDE')
    expect(given.runtime.health().hooks).toMatchObject({ status: 'ok', origin: 'override', plugins: ['override'] })
    await given.runtime.setHooks(null)
    expect((await given.run()).run?.status).toBe('completed')
    expect(given.runtime.health().hooks).toMatchObject({ origin: 'explicit', plugins: ['base'] })
  })

  it('a set that cannot be built leaves the runtime shut, with the fault as cause, until a good one stands', async () => {
    const given = await rig(['x'], { plugins: [] })
    const fault = await faultOf(given.runtime.setHooks([plugin('idle', () => undefined)]))
    expect(fault.code).toBe('HOOK_REGISTRATION')
    const { error } = await given.run()
    expect(error).toMatchObject({ code: 'HOOKS_BROKEN', cause: fault })
    await expect(given.runtime.generateText({ model: 'scripted/m', prompt: 'x' })).rejects.toMatchObject({
      code: 'HOOKS_BROKEN',
    })
    expect(given.runtime.health().hooks).toMatchObject({
      status: 'broken',
      fault: expect.stringContaining('"idle" taps no hook point'),
    })
    expect(given.provider.calls).toEqual([])
    await given.runtime.setHooks(null)
    expect((await given.run()).run?.status).toBe('completed')
  })

  it('a run keeps the plugins that it started with, and they are disposed when it has ended', async () => {
    const door = latch()
    const disposed: string[] = []
    const asked: string[] = []
    const first = plugin('first', (hooks) => {
      hooks.beforeModelCall.tap('note', () => void asked.push('first'))
      return { dispose: () => void disposed.push('first') }
    })
    const { tool } = notes({ handler: () => door.wait().then(() => 'written') })
    const given = await rig([reply.toolCall('write_note'), 'x'], { agents: [desk([tool])], plugins: [] })
    await given.runtime.setHooks([first])
    const running = caught(given.runtime.execute({ agent: 'desk' }))
    await door.reached()
    await given.runtime.setHooks([gate('beforeModelCall', () => void asked.push('second'), { name: 'second' })])
    expect(disposed).toEqual([])
    door.open()
    expect((await running).run?.status).toBe('completed')
    await given.clock.tick()
    expect([asked, disposed]).toEqual([['first', 'first'], ['first']])
  })

  it('two changes at once are made one after another: the last one stands', async () => {
    const given = await rig([], { plugins: [] })
    await Promise.all([given.runtime.setHooks([denies('ONE')]), given.runtime.setHooks([denies('TWO')])])
    expect((await given.run()).code).toBe('TWO')
  })

  it('while a change is going on no run slips through between the two sets', async () => {
    const door = latch()
    const slow = plugin('slow', async (hooks) => {
      await door.wait()
      hooks.beforeExecution.tap('deny', deny('NEW'))
    })
    const given = await rig([], { plugins: [denies('OLD')] })
    const changing = given.runtime.setHooks([slow])
    await door.reached()
    expect((await given.run()).code).toBe('HOOKS_BROKEN')
    door.open()
    await changing
    expect((await given.run()).code).toBe('NEW')
  })
})

describe('fork', () => {
  it('shares everything but the plugins, and is disposed by its own close', async () => {
    const disposed: string[] = []
    const added = plugin('added', (hooks) => {
      hooks.beforeExecution.tap('deny', deny('ADDED'))
      return { dispose: () => void disposed.push('added') }
    })
    const given = await rig(['x', 'y'], { plugins: [] })
    const fork = await given.runtime.fork({ plugins: [added] })
    expect((await caught(fork.execute({ agent: 'desk' }))).code).toBe('ADDED')
    expect((await given.run()).run?.status).toBe('completed')
    expect(fork.health().hooks.origin).toBe('fork')
    await fork.close()
    expect(disposed).toEqual(['added'])
    expect((await given.run()).run?.status).toBe('completed')
    expect((await caught(fork.execute({ agent: 'desk' }))).code).toBe('RUNTIME_CLOSED')
  })

  it('that cannot be set up is refused and leaves its origin as it was', async () => {
    const given = await rig(['x'], { plugins: [] })
    expect((await faultOf(given.runtime.fork({ plugins: [plugin('idle', () => undefined)] }))).code).toBe(
      'HOOK_REGISTRATION',
    )
    expect((await given.run()).run?.status).toBe('completed')
  })

  it('a plugin instance that stands in both is asked once in a call made inside a run', async () => {
    let asked = 0
    const shared = gate('beforeModelCall', ({ model }) => void (model === 'judge' && asked++), { name: 'shared' })
    const { tool } = notes({
      handler: async () => {
        const fork = await given.runtime.fork({
          plugins: [shared, gate('beforeModelCall', () => undefined, { name: 'more' })],
        })
        return (await fork.generateText({ model: 'scripted/judge', prompt: 'Is it?' })).text
      },
    })
    const given = await rig([reply.toolCall('write_note'), 'It is.', 'Done.'], {
      agents: [desk([tool])],
      plugins: [shared],
    })
    expect((await given.run()).run?.text).toBe('Done.')
    expect(asked).toBe(1)
  })
})

describe('shadow', () => {
  const strict = (answer: () => unknown): PluginInstance => shadow(gate('beforeToolCall', answer, { name: 'strict' }))
  it.each([
    ['a veto', deny('NO'), 'NO'],
    [
      'a failure',
      () => {
        throw new Error('a bug')
      },
      'HOOK_FAILED',
    ],
    ['a value', () => false, 'HOOK_FAILED'],
    ['a deadline that passed', () => new Promise(() => {}), 'HOOK_FAILED'],
  ])('records %s and stops nothing', async (_what, answer, code) => {
    const { tool, calls } = notes()
    const behind: string[] = []
    const given = await rig([reply.toolCall('write_note', { text: 'a' }), 'x'], {
      agents: [desk([tool])],
      plugins: [strict(answer), gate('beforeToolCall', () => void behind.push('asked'), { name: 'behind' })],
    })
    const { run } = await given.run()
    expect([run?.status, calls, behind.length > 0]).toEqual(['completed', ['a'], true])
    const [receipt] = (await given.receipts(run?.executionId ?? '')).filter(({ effect }) => effect === 'tool_call')
    expect(receipt?.askings[0]?.gates.map((row) => `${row.plugin} ${row.answer} ${row.code ?? ''}`)).toEqual([
      `shadow:strict would_veto ${code}`,
      'behind passed ',
    ])
    expect(run?.receipts.stopped).toBe(0)
  })

  it('is visible in explain, in health and at the start, and has storage of its own', async () => {
    const keep = definePlugin({
      name: 'keep',
      hookApi: 1,
      apply(hooks, host) {
        hooks.beforeExecution.tap('x', () => {})
        return { api: host.storage }
      },
    })
    const given = await rig([], { plugins: [keep(), shadow(keep())] })
    expect(given.runtime.health().hooks.plugins).toEqual(['keep', 'shadow:keep'])
    expect((await given.runtime.explain('desk')).hooks.plugins).toMatchObject([
      { plugin: 'keep', shadow: false },
      { plugin: 'shadow:keep', shadow: true },
    ])
    expect(given.logger.matching('ready')[0]?.fields.plugins).toEqual(['keep', 'shadow:keep'])
    await given.runtime.plugin(keep).documents.put(['x'], 1)
    const other = await rig([], { store: given.store, plugins: [shadow(keep())], seed: 1 })
    expect(await other.runtime.plugin(keep).documents.get(['x'])).toBeUndefined()
  })
})
