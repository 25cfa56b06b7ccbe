import type { HookPoint, Hooks, RunEvent } from '@sluice/core'
import { Refusal, Veto } from '@sluice/core'
import { FAILURES, failingPlugin, reply } from '@sluice/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hearRejections } from './property/hear-rejections.js'
import { desk, gate, notes, plugin, rig, watcher } from './support/rig.js'

const OBSERVERS = [
  'augmentSystemPrompt',
  'afterModelCall',
  'afterToolCall',
  'afterExecution',
  'onStop',
  'onEvent',
] as const
const script = [reply.toolCall('write_note', { text: 'a' }), 'Done.']

const rejections = hearRejections()
beforeAll(rejections.listen)
afterAll(rejections.stop)

/** Taps one observer point of a plugin. */
const observer = (
  point: Exclude<HookPoint, 'augmentSystemPrompt'>,
  fn: (context: never) => unknown,
  name = 'observer',
) => plugin(name, (hooks) => (hooks[point] as Hooks['onStop']).tap('observe', fn as never))

describe.each(OBSERVERS)('CASE-26, H-13, H-25: an observer of %s that fails', (point) => {
  it.each(FAILURES)('$as changes nothing for the run and for the observers behind it', async ({ as }) => {
    const { tool, calls } = notes()
    const seen = watcher()
    const given = await rig(script, {
      agents: [desk([tool])],
      plugins: [failingPlugin({ point, as }), seen.plugin],
    })
    const { run } = await given.run()
    await given.clock.tick(60_000)
    expect([run?.text, calls, run?.status]).toEqual(['Done.', ['a'], 'completed'])
    expect([seen.afterModelCall.length, seen.afterToolCall.length, seen.afterExecution.length]).toEqual([2, 1, 1])
    expect(rejections.take()).toEqual([])
  })
})

describe('an observer of onStop that fails', () => {
  it.each(FAILURES)('T-25: $as hides no stop from the others and does not replace the error', async ({ as }) => {
    const seen = watcher()
    const given = await rig([], {
      plugins: [
        failingPlugin({ point: 'onStop', as }),
        gate('beforeModelCall', () => {
          throw new Veto('NO', 'No.')
        }),
        seen.plugin,
      ],
    })
    expect((await given.run()).code).toBe('NO')
    expect(seen.onStop).toHaveLength(1)
    await given.clock.tick(60_000)
    expect(rejections.take()).toEqual([])
  })
})

describe('T-25, H-12: afterExecution', () => {
  it('fires once, on every ending, with the tokens up to there', async () => {
    const endings = {
      completed: [],
      vetoed: [
        gate('beforeToolCall', () => {
          throw new Veto('NO', 'No.')
        }),
      ],
      failed: [gate('beforeToolCall', () => false)],
    }
    for (const [ending, plugins] of Object.entries(endings)) {
      const { tool } = notes()
      const seen = watcher()
      const given = await rig(ending === 'completed' ? script : script.slice(0, 1), {
        agents: [desk([tool])],
        plugins: [...plugins, seen.plugin],
      })
      const { run, error } = await given.run()
      const tokens =
        ending === 'completed' ? { inputTokens: 20, outputTokens: 10 } : { inputTokens: 10, outputTokens: 5 }
      expect(seen.afterExecution).toMatchObject([
        {
          executionId: run?.executionId ?? error?.partial?.executionId,
          status: ending === 'completed' ? 'completed' : 'failed',
          recovered: false,
          ...tokens,
        },
      ])
    }
  })

  it('of a run that was vetoed at the start does not fire: onStop does', async () => {
    const seen = watcher()
    const given = await rig([], {
      plugins: [
        gate('beforeExecution', () => {
          throw new Veto('NO', 'No.')
        }),
        seen.plugin,
      ],
    })
    await given.run()
    expect([seen.afterExecution.length, seen.onStop.length]).toEqual([0, 1])
    expect(seen.onStop[0]).toMatchObject({
      executionId: null,
      point: 'beforeExecution',
      agentCode: 'desk',
      receipt: { effect: 'execution', outcome: 'stopped', sent: 'no' },
    })
  })

  it('sees the record as it ended, and the original error is what the caller gets, also when the observer throws', async () => {
    const statuses: unknown[] = []
    const given = await rig([], {
      plugins: [
        gate('beforeModelCall', () => {
          throw new Veto('NO', 'No.')
        }),
        observer('afterExecution', async ({ executionId }: { executionId: string }) => {
          statuses.push((await given.store.executions.get(executionId))?.status)
          throw new Error('bookkeeping')
        }),
      ],
    })
    expect((await given.run()).code).toBe('NO')
    expect(statuses).toEqual(['failed'])
    expect(given.runtime.health().observers).toMatchObject({
      errors: 1,
      lastError: { source: 'observer', point: 'afterExecution', message: 'bookkeeping' },
    })
  })
})

describe('deadlines of observers', () => {
  const never = () => new Promise(() => {})

  it('those of one point are started in order and awaited together, under one deadline', async () => {
    const order: string[] = []
    const late = (name: string) => observer('afterModelCall', () => (order.push(name), never()), name)
    const given = await rig(['Done.'], {
      plugins: [late('a'), late('b'), late('c')],
      timeouts: { observerTimeoutMs: 400 },
    })
    expect((await given.run()).run?.status).toBe('completed')
    expect([order, given.clock.monotonic()]).toEqual([['a', 'b', 'c'], 400])
    expect(given.runtime.health().observers.late).toBe(3)
  })

  it('one that is late goes on alone, and its late error is logged and counted', async () => {
    const given = await rig(['Done.'], {
      plugins: [
        observer(
          'afterModelCall',
          () => new Promise((_resolve, reject) => void given.clock.setTimeout(() => reject(new Error('late')), 9_000)),
        ),
      ],
      timeouts: { observerTimeoutMs: 400 },
    })
    await given.run()
    expect(given.runtime.health().observers).toMatchObject({ late: 1, errors: 0 })
    await given.clock.tick(10_000)
    expect(given.runtime.health().observers).toMatchObject({ late: 1, errors: 1 })
    expect(rejections.take()).toEqual([])
  })

  it('a closing observer is awaited before the run starts its next effect', async () => {
    const order: string[] = []
    const { tool } = notes({ handler: () => (order.push('handler'), 'written') })
    const slow = (point: 'afterModelCall' | 'afterToolCall') =>
      observer(
        point,
        () => new Promise<void>((resolve) => void given.clock.setTimeout(() => (order.push(point), resolve()), 100)),
        point.toLowerCase(),
      )
    const given = await rig(script, {
      agents: [desk([tool])],
      plugins: [slow('afterModelCall'), slow('afterToolCall'), gate('beforeModelCall', () => void order.push('ask'))],
    })
    await given.run()
    expect(order).toEqual(['ask', 'afterModelCall', 'handler', 'afterToolCall', 'ask', 'afterModelCall'])
  })

  it('a closing observer is awaited however often it was late before; one of events is not, after three misses in a run', async () => {
    const { tool } = notes()
    const round = reply.toolCall('write_note')
    const closing = await rig([round, round, round, round, 'Done.'], {
      agents: [desk([tool])],
      plugins: [observer('afterToolCall', never)],
      timeouts: { observerTimeoutMs: 100 },
    })
    await closing.run()
    expect(closing.clock.monotonic()).toBe(400)

    const seen: string[] = []
    const events = await rig([round, round, round, round, 'Done.', 'Again.'], {
      agents: [desk([tool])],
      plugins: [observer('onEvent', ({ type }: RunEvent) => (seen.push(type), never()))],
      timeouts: { observerTimeoutMs: 100 },
    })
    await events.run()
    expect(events.clock.monotonic()).toBe(300)
    expect(seen).toHaveLength(4 * 2 + 2)
    expect(events.runtime.health().observers.late).toBe(3)
    // in the next run it is awaited again
    await events.run()
    expect(events.clock.monotonic()).toBe(300 + 2 * 100)
  })

  it('the misses of one plugin are its own: another observer is awaited as before', async () => {
    const { tool } = notes()
    const round = reply.toolCall('write_note')
    let waited = 0
    const given = await rig([round, round, 'Done.'], {
      agents: [desk([tool])],
      plugins: [
        observer('onEvent', never, 'hangs'),
        observer(
          'onEvent',
          () => new Promise<void>((resolve) => void given.clock.setTimeout(() => (waited++, resolve()), 10)),
          'slow',
        ),
      ],
      timeouts: { observerTimeoutMs: 100 },
    })
    await given.run()
    expect([waited, given.clock.monotonic()]).toEqual([6, 3 * 100 + 3 * 10])
  })

  it('an observer of a tap with a shorter deadline is late at its own', async () => {
    const given = await rig(['Done.'], {
      plugins: [plugin('brief', (hooks) => hooks.afterModelCall.tap({ name: 'x', timeoutMs: 50 }, never as never))],
      timeouts: { observerTimeoutMs: 400 },
    })
    await given.run()
    expect(given.clock.monotonic()).toBe(50)
  })
})

describe('H-3: the signal of an observer', () => {
  const never = () => new Promise(() => {})
  const { tool } = notes()
  const told = (
    point: 'afterModelCall' | 'afterToolCall' | 'afterExecution',
    timeouts: readonly number[],
    work: () => Promise<unknown>,
  ) => {
    const fired: string[] = []
    const plugins = timeouts.map((timeoutMs, index) =>
      plugin(`slow-${index}`, (hooks) =>
        hooks[point].tap({ name: 'x', timeoutMs }, ((context: { signal: AbortSignal }) => {
          context.signal.addEventListener('abort', () =>
            fired.push(`${index} ${(context.signal.reason as Error).name} at ${given.clock.monotonic()}`),
          )
          return work()
        }) as never),
      ),
    )
    let given: Awaited<ReturnType<typeof rig>>
    const start = async () => {
      given = await rig(point === 'afterModelCall' ? ['Done.'] : script, {
        agents: [desk(point === 'afterModelCall' ? [] : [tool])],
        plugins,
        timeouts: { observerTimeoutMs: 400 },
      })
      return given
    }
    return { fired, start }
  }

  it.each(['afterModelCall', 'afterToolCall', 'afterExecution'] as const)(
    'fires at its deadline in %s, and the run goes on without it',
    async (point) => {
      const { fired, start } = told(point, [1_000], never)
      expect((await (await start()).run()).run?.text).toBe('Done.')
      expect(fired).toEqual(['0 TimeoutError at 400'])
    },
  )

  it('fires in onStop too, and no context of an observer freezes it or has it in a copy', async () => {
    const fired: string[] = []
    const copies: string[][] = []
    const slow = plugin('slow', (hooks) =>
      hooks.onStop.tap('x', (context) => {
        copies.push(Object.keys({ ...context }))
        context.signal.addEventListener('abort', () => fired.push((context.signal.reason as Error).name))
        return never() as never
      }),
    )
    const veto = gate('beforeModelCall', () => {
      throw new Veto('NO', 'No.')
    })
    const given = await rig([], { plugins: [veto, slow], timeouts: { observerTimeoutMs: 400 } })
    expect((await given.run()).code).toBe('NO')
    expect(fired).toEqual(['TimeoutError'])
    expect(copies[0]).not.toContain('signal')
  })

  it('fires at the deadline of its own tap', async () => {
    const { fired, start } = told('afterModelCall', [50], never)
    await (await start()).run()
    expect(fired).toEqual(['0 TimeoutError at 50'])
  })

  it('cuts nobody short who is in time still: it fires when the run waits for none of them any more', async () => {
    const { fired, start } = told('afterModelCall', [50, 1_000], never)
    await (await start()).run()
    expect(fired).toEqual(['0 TimeoutError at 400', '1 TimeoutError at 400'])
  })

  it('is quiet where all were in time, also where the run was aborted: what is settled then is not cut off', async () => {
    const { fired, start } = told('afterModelCall', [400], async () => {})
    const given = await start()
    await given.run()
    const controller = new AbortController()
    const seen: boolean[] = []
    const settling = observer('afterModelCall', (({ signal }: { signal: AbortSignal }) => {
      seen.push(signal.aborted)
      signal.addEventListener('abort', () => seen.push(true))
      return new Promise<void>((resolve) => void other.clock.setTimeout(resolve, 100))
    }) as never)
    const other = await rig([() => (controller.abort(), 'late')], { plugins: [settling] })
    expect((await other.run({ signal: controller.signal })).code).toBe('RUN_ABORTED')
    await other.clock.tick(10_000)
    expect([fired, seen]).toEqual([[], [false]])
  })
})

describe('what observers are given', () => {
  it('a frozen snapshot of an error, never the one of the caller', async () => {
    const seen = watcher()
    const given = await rig([], {
      plugins: [
        gate('beforeModelCall', () => {
          throw new Veto('NO', 'No.', { spent: [1] })
        }),
        seen.plugin,
      ],
    })
    const { error } = await given.run()
    for (const snapshot of [seen.afterModelCall[0]?.error, seen.afterExecution[0]?.failure?.error]) {
      expect(snapshot).toEqual({ name: 'Veto', code: 'NO', message: 'No.', details: { spent: [1] } })
      expect(Object.isFrozen(snapshot) && Object.isFrozen(snapshot?.details?.spent)).toBe(true)
    }
    const [stop] = seen.onStop
    expect(Reflect.set((stop?.details as { spent: object }).spent, 0, 99)).toBe(false)
    expect(error?.details).toEqual({ spent: [1] })
  })

  it('onStop is told of refusals and pauses too, with the answer', async () => {
    const { tool } = notes()
    const seen = watcher()
    const given = await rig(script, {
      agents: [desk([tool])],
      plugins: [
        gate('inspectToolInput', () => {
          throw new Refusal('NOT_NOW', 'Later.')
        }),
        seen.plugin,
      ],
    })
    await given.run()
    expect(seen.onStop).toMatchObject([
      {
        point: 'inspectToolInput',
        answer: 'refused',
        code: 'NOT_NOW',
        reason: 'Later.',
        effectId: expect.stringMatching(/m1\.t1$/),
        attempt: 1,
      },
    ])
  })

  it('onStop is told once of a stop that no gate gave: a bound of the tree, a timeout, an abort', async () => {
    const { tool } = notes()
    const controller = new AbortController()
    const cases = [
      [{ limits: { toolCalls: 0 } }, script.slice(0, 1), 'limit TREE_LIMIT'],
      [
        { limits: { durationMs: 100 }, agents: [desk([notes({ handler: () => new Promise(() => {}) }).tool])] },
        script.slice(0, 1),
        'timeout TREE_LIMIT',
      ],
    ] as const
    for (const [options, steps, expected] of cases) {
      const seen = watcher()
      const given = await rig([...steps], { agents: [desk([tool])], ...(options as object), plugins: [seen.plugin] })
      await given.run({ signal: controller.signal })
      expect(seen.onStop.map(({ answer, code, point, plugin: by }) => `${answer} ${code} ${point} ${by}`)).toEqual([
        `${expected} run null`,
      ])
    }
  })
})
