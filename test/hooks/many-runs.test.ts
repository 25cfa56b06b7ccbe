import { getEventListeners } from 'node:events'
import type { Run, Store } from '@sluice/core'
import { createMemoryStore, createRuntime, SluiceError, Veto } from '@sluice/core'
import { fakeClock, fakeIds, providerError, reply, scriptedProvider } from '@sluice/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hearRejections } from './property/hear-rejections.js'
import { heapAfterGc } from './support/heap.js'
import { desk, gate, notes, plugin } from './support/rig.js'

const RUNS = 10_000
const ENDINGS = ['completed', 'failed', 'vetoed', 'aborted', 'timeout', 'left early'] as const
type Ending = (typeof ENDINGS)[number]
const rejections = hearRejections()
beforeAll(rejections.listen)
afterAll(rejections.stop)

/** A memory store whose rows of runs can be dropped, as if somebody archived them: what is left then is what we keep. */
function forgettingStore(): { readonly store: Store; forget(): void } {
  const base = createMemoryStore()
  let rows = createMemoryStore()
  const store = new Proxy(base, {
    get(target, key: string) {
      const owner = ['executions', 'sessions', 'messages', 'receipts', 'toolErrors', 'journals'].includes(key)
        ? rows
        : target
      const value = Reflect.get(owner, key) as unknown
      return typeof value === 'function' ? value.bind(owner) : value
    },
  })
  return {
    store,
    forget: () => {
      rows = createMemoryStore()
    },
  }
}

// cites: CASE-26
it('CASE-26: 10 000 runs on one signal, ending in every way, leave no listener, no timer and no memory behind', async () => {
  const clock = fakeClock()
  const { store, forget } = forgettingStore()
  let ending: Ending = 'completed'
  let stopThis = new AbortController()
  const { tool, calls } = notes({
    handler: (_args, { signal }) => {
      if (ending === 'aborted') stopThis.abort()
      if (ending !== 'timeout') return Promise.resolve('written')
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const everywhere = plugin('everywhere', (hooks) => {
    for (const point of [
      'beforeExecution',
      'beforeModelCall',
      'whileInFlight',
      'inspectReply',
      'beforeToolCall',
    ] as const) {
      hooks[point].tap('sync', ({ signal }) => void signal)
      hooks[point].tapPromise('async', async () => {})
    }
    for (const point of ['afterModelCall', 'afterToolCall', 'afterExecution', 'onStop', 'onEvent'] as const)
      (hooks[point] as typeof hooks.onStop).tap('see', async () => {})
  })
  const runtime = await createRuntime({
    store,
    clock,
    ids: fakeIds(),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    providers: [
      scriptedProvider(
        ({ messages }) => {
          if (messages.at(-1)?.role === 'tool')
            return ending === 'failed' ? providerError(500) : reply('A long answer in several pieces.')
          return reply.toolCall('write_note', { text: 'x' })
        },
        { record: false },
      ),
    ],
    agents: [desk([tool])],
    plugins: [
      everywhere,
      gate('inspectToolInput', () => {
        if (ending === 'vetoed') throw new Veto('NO', 'No.')
      }),
    ],
  })
  const longLived = new AbortController()
  const statuses = new Map<string, number>()
  let early = 0

  for (let run = 0; run < RUNS; run++) {
    ending = ENDINGS[run % ENDINGS.length] as Ending
    const status = await clock.settle(statusOf(start()))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    calls.length = 0
    if (getEventListeners(longLived.signal, 'abort').length > 0)
      throw new Error(`run ${run} (${ending}) left a listener`)
    if (clock.timers > 0) throw new Error(`run ${run} (${ending}) left ${clock.timers} timers`)
    if (run % 500 === 499) forget()
    if (run === 1_999) early = await heapAfterGc()
  }
  const late = await heapAfterGc()
  expect(runtime.health()).toMatchObject({ runsInFlight: 0, observers: { errors: 0, late: 0 } })
  expect(rejections.take()).toEqual([])
  // an empty loop proves nothing
  expect(Object.fromEntries(statuses)).toEqual({
    completed: 3_333,
    failed: 1_667,
    vetoed: 1_667,
    aborted: 1_667,
    timeout: 1_666,
  })
  console.log(`heap after 2 000 runs ${early}, after 10 000 ${late}, growth ${((late / early - 1) * 100).toFixed(2)} %`)
  expect(late / early).toBeLessThan(1.05)
  await runtime.close()

  function start(): Promise<Run> {
    if (ending === 'aborted') {
      stopThis = new AbortController()
      // the caller's own signal, made of the long-lived one and one for this run
      return runtime.execute({ agent: 'desk', signal: AbortSignal.any([longLived.signal, stopThis.signal]) })
    }
    const options = {
      agent: 'desk',
      signal: longLived.signal,
      ...(ending === 'timeout' ? { limits: { durationMs: 40 } } : {}),
    }
    return ending === 'left early' ? leave(runtime.stream(options)) : runtime.execute(options)
  }
}, 600_000)

async function leave(stream: { readonly run: Promise<Run> } & AsyncIterable<unknown>): Promise<Run> {
  for await (const _event of stream) break
  return stream.run
}

async function statusOf(running: Promise<Run>): Promise<string> {
  try {
    return (await running).status
  } catch (error) {
    if (!SluiceError.isInstance(error)) throw error
    const known: Readonly<Record<string, string>> = { NO: 'vetoed', RUN_ABORTED: 'aborted', TREE_LIMIT: 'timeout' }
    return known[error.code] ?? 'failed'
  }
}
