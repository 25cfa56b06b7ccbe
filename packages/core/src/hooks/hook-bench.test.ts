import { describe, expect, it } from 'vitest'
import { currentFrame } from '../context/frame.js'
import { getExecutionContext } from '../context/execution-context.js'
import { Veto } from '../errors/answers.js'
import { createIds } from '../internal/ids.js'
import { systemClock } from '../internal/clock.js'
import type { Store } from '../store/store.js'
import { createHookBench } from './hook-bench.js'
import type { GateContexts } from './hook-points.js'
import { definePlugin } from './plugin.js'
import type { Hooks } from './hook-types.js'
import { Stage } from './stage.js'

const store = { documents: () => ({}), log: () => ({}) } as unknown as Store
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const parts = { store, clock: systemClock, ids: createIds(), logger: quiet }

const plugin = (apply: (hooks: Hooks, host: { run: unknown }) => void | { dispose(): void }, name = 'tried') =>
  definePlugin({ name, hookApi: 1, apply: (hooks, host) => apply(hooks, host) })()

describe('createHookBench', () => {
  it('asks the gates of one point with the facts of the test and defaults for the rest', async () => {
    let seen: GateContexts['beforeToolCall'] | undefined
    const bench = await createHookBench(
      [plugin((hooks) => hooks.beforeToolCall.tap('look', (context) => void (seen = context)))],
      parts,
    )
    const answer = await bench.ask(
      'beforeToolCall',
      { toolCode: 'ap_approve_invoice' },
      { caller: { user: 'petra.k', tenant: 'acme' } },
    )
    expect(answer).toMatchObject({
      answer: 'passed',
      error: undefined,
      gates: [{ plugin: 'tried', point: 'beforeToolCall', answer: 'passed' }],
    })
    expect(seen).toMatchObject({
      toolCode: 'ap_approve_invoice',
      callId: 'call_1',
      createdBy: 'petra.k',
      tenant: 'acme',
      attempt: 1,
      depth: 0,
    })
    expect(seen?.tool.effect).toBe('send')
    expect([Object.isFrozen(seen), Object.isFrozen(seen?.tool), seen?.signal.aborted]).toEqual([true, true, false])
    expect(bench.points).toEqual(['beforeToolCall'])
    await bench.dispose()
  })

  it('gives the error that the run would have got, and the rows of all gates', async () => {
    const bench = await createHookBench(
      [
        plugin(
          (hooks) =>
            hooks.beforeToolCall.tap({ name: 'no', stage: Stage.policy }, () => {
              throw new Veto('NO', 'Not today.')
            }),
          'first',
        ),
        plugin((hooks) => hooks.beforeToolCall.tap('behind', () => {}), 'second'),
      ],
      parts,
    )
    const answer = await bench.ask('beforeToolCall')
    expect(answer.answer).toBe('vetoed')
    expect(Veto.isInstance(answer.error, 'NO')).toBe(true)
    expect((answer.error as Veto).by).toEqual({ plugin: 'first', point: 'beforeToolCall' })
    expect(answer.gates.map((row) => row.answer)).toEqual(['vetoed', 'not_asked'])
    await bench.dispose()
  })

  it('H-17: the execution context is there in every gate but beforeExecution; none of it is left behind', async () => {
    const seen: unknown[] = []
    const look = () => void seen.push(getExecutionContext().runContext.clerk)
    const bench = await createHookBench(
      [
        plugin((hooks) => {
          hooks.beforeExecution.tap('a', look)
          hooks.beforeToolCall.tap('b', look)
        }),
      ],
      parts,
    )
    const place = { runContext: { clerk: 'petra.k' } }
    await bench.ask('beforeExecution', {}, place)
    await bench.ask('beforeToolCall', {}, place)
    expect(seen).toEqual([undefined, 'petra.k'])
    expect(currentFrame()).toBeUndefined()
    await bench.dispose()
  })

  it('keeps host.run.state per tree until afterExecution, and hands it to another bench', async () => {
    const counting = () =>
      plugin((hooks, host) => {
        hooks.beforeToolCall.tap('count', () => {
          ;(host.run as { state: { update(change: (n: never) => number): void } }).state.update(
            (n: number | undefined) => (n ?? 0) + 1,
          )
        })
        hooks.afterExecution.tap('end', () => {})
      })
    const bench = await createHookBench([counting()], parts)
    await bench.ask('beforeToolCall', { rootExecutionId: 'a' })
    await bench.ask('beforeToolCall', { rootExecutionId: 'a' })
    await bench.ask('beforeToolCall', { rootExecutionId: 'b' })
    expect([bench.runState('a'), bench.runState('b')]).toEqual([{ tried: 2 }, { tried: 1 }])
    const other = await createHookBench([counting()], parts)
    other.restore('a', bench.runState('a'))
    await other.ask('beforeToolCall', { rootExecutionId: 'a' })
    expect(other.runState('a')).toEqual({ tried: 3 })
    await bench.tell('afterExecution', { rootExecutionId: 'a' })
    expect(bench.runState('a')).toEqual({})
    await Promise.all([bench.dispose(), other.dispose()])
  })

  it('CASE-05: an abort ends an asking that waits', async () => {
    const bench = await createHookBench(
      [plugin((hooks) => hooks.beforeModelCall.tapPromise('slow', () => new Promise<void>(() => {})))],
      parts,
    )
    const controller = new AbortController()
    const asking = bench.ask('beforeModelCall', {}, { signal: controller.signal })
    controller.abort(new Error('gone'))
    expect((await asking).answer).toBe('aborted')
    expect((await bench.ask('beforeModelCall', {}, { signal: AbortSignal.abort() })).answer).toBe('aborted')
    await bench.dispose()
  })

  it('gives closing observers a signal that fires where they miss their deadline', async () => {
    const signals: AbortSignal[] = []
    const slow = plugin((hooks) =>
      hooks.afterModelCall.tapPromise({ name: 'slow', timeoutMs: 1 }, ({ signal }) => {
        signals.push(signal)
        return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      }),
    )
    const bench = await createHookBench([slow], parts)
    await bench.tell('afterModelCall', { outcome: 'ok' })
    expect(signals[0]?.aborted).toBe(true)
    await bench.dispose()
  })

  it('tells observers, counts their errors, and runs the prompt chain', async () => {
    let disposed = 0
    const bench = await createHookBench(
      [
        plugin((hooks) => {
          hooks.afterToolCall.tap('bad', () => {
            throw new Error('oops')
          })
          hooks.augmentSystemPrompt.tap('add', (prompt) => `${prompt ?? ''} Be kind.`)
          return { dispose: () => void (disposed += 1) }
        }),
      ],
      parts,
    )
    await bench.tell('afterToolCall', { outcome: 'ok' })
    expect([bench.health.errors, bench.health.lastError?.message]).toEqual([1, 'oops'])
    expect(await bench.augment('Help.')).toBe('Help. Be kind.')
    expect(await bench.dispose()).toEqual([])
    expect(disposed).toBe(1)
  })
})
