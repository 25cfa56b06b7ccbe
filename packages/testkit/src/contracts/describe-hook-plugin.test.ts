import { describe, expect, it } from 'vitest'
import type { Hooks, PluginHost, PluginInstance, StandardSchemaV1 } from '@sluice/core'
import { definePlugin, effectCounter, Pause, Veto } from '@sluice/core'
import { describeHookPlugin } from './describe-hook-plugin.js'
import { findImportWork } from './import-work.js'
import type { HookPluginOptions } from './plugin-rig.js'
import { hookPluginRows } from './plugin-rows.js'
import { deskLimit } from './testing/desk-limit.js'

describeHookPlugin('desk-limit', () => deskLimit({ modelCalls: 5, toolCalls: 3 }), {
  module: new URL('./testing/desk-limit.ts', import.meta.url),
  conditions: ['sluice-source'],
  badOptions: { 'a bound of 0': () => deskLimit({ modelCalls: 0, toolCalls: 1 }) },
  stopping: {
    point: 'inspectToolInput',
    code: 'TOO_MANY_TOOLS',
    caller: { user: 'petra.k' },
    prepare: (store) => store.documents('plugin:desk-limit').put(['calls', 'petra.k'], ['a', 'b', 'c']),
  },
})

describeHookPlugin('a gate that pauses the second call', () => pausing(), {
  stopping: { point: 'inspectToolInput', code: 'ASK', answer: 'paused', earlier: [{ effectId: 'another call' }] },
})

/** Pauses the second call of a run and all after it. */
function pausing(): PluginInstance {
  return definePlugin({
    name: 'pausing',
    hookApi: 1,
    apply(hooks, host) {
      hooks.inspectToolInput.tapPromise('ask', async (context) => {
        if ((await effectCounter(host, 'calls', 'run').count(context)) > 1) throw new Pause('ASK')
      })
    },
  })()
}

const SHARED = { calls: 0 }

/** A plugin with one fault, by the row that has to find it. */
const faulty = (apply: (hooks: Hooks, host: PluginHost) => void | { dispose?(): void }) => () =>
  definePlugin({ name: 'faulty', hookApi: 1, apply: (hooks, host) => apply(hooks, host as never) })()

type Case = readonly [row: RegExp, what: string, make: () => PluginInstance, options?: HookPluginOptions]
const cases: readonly Case[] = [
  [
    /refuses options that are no options/,
    'takes any options',
    () =>
      definePlugin<StandardSchemaV1 | undefined>({
        name: 'faulty',
        hookApi: 1,
        options: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
        apply: (hooks) => hooks.onStop.tap('x', () => {}),
      })(),
  ],
  [
    /changes nothing of what it is told/,
    'writes to what a gate is told',
    faulty((hooks) =>
      hooks.beforeToolCall.tap('x', (context) => {
        ;(context as { toolCode: string }).toolCode = 'other'
      }),
    ),
  ],
  [
    /changes nothing of what it is told/,
    'writes to what an observer is told',
    faulty((hooks) =>
      hooks.afterToolCall.tap('x', (context) => {
        ;(context as { toolCode: string }).toolCode = 'other'
      }),
    ),
  ],
  [
    /changes nothing of what it is told/,
    'vetoes where it should pass',
    faulty((hooks) =>
      hooks.inspectReply.tap('x', () => {
        throw new Veto('NO', 'no')
      }),
    ),
  ],
  [
    /asked a storage which rejects with an Error/,
    'passes when its storage fails',
    faulty((hooks, host) =>
      hooks.beforeToolCall.tapPromise('x', async () => {
        await host.storage.documents.get(['a']).catch(() => undefined)
      }),
    ),
  ],
  [
    /asked a storage which never settles/,
    'passes when its storage hangs',
    faulty((hooks, host) =>
      hooks.beforeToolCall.tap('x', () => void host.storage.documents.get(['a']).catch(() => undefined)),
    ),
  ],
  [
    /asked twice/,
    'counts each asking in its storage',
    faulty((hooks, host) =>
      hooks.beforeModelCall.tapPromise('x', async () => {
        await host.storage.documents.update(['n'], (n) => ((n as number) ?? 0) + 1)
      }),
    ),
  ],
  [
    /asked twice/,
    'counts each asking in the state of the run',
    faulty((hooks, host) =>
      hooks.beforeModelCall.tap('x', () => void host.run?.state.update((n) => ((n as number) ?? 0) + 1)),
    ),
  ],
  [
    /asked twice/,
    'writes each asking to its log',
    faulty((hooks, host) =>
      hooks.inspectToolInput.tapPromise('x', async (context) => {
        await host.storage.log.append('asked', () => [context.effectId])
      }),
    ),
  ],
  [
    /asked twice/,
    'answers otherwise the second time',
    () => {
      let asked = 0
      return faulty((hooks) =>
        hooks.beforeToolCall.tap('x', () => {
          asked += 1
          if (asked > 1) throw new Veto('SECOND', 'x')
        }),
      )()
    },
  ],
  [
    /told of the end twice/,
    'books the end again',
    faulty((hooks, host) =>
      hooks.afterExecution.tapPromise('x', async () => {
        await host.storage.log.append('ends', () => ['end'])
      }),
    ),
  ],
  [
    /two instances share nothing/,
    'keeps a counter in its module',
    faulty((hooks, host) =>
      hooks.afterExecution.tapPromise('x', async () => {
        SHARED.calls += 1
        await host.storage.documents.put(['calls'], SHARED.calls)
      }),
    ),
  ],
  [
    /restart between any two/,
    'keeps a counter in memory',
    faulty((hooks, host) => {
      let calls = 0
      hooks.beforeModelCall.tap('x', () => void (calls += 1))
      hooks.afterExecution.tapPromise('y', async () => {
        await host.storage.documents.put(['calls'], calls)
      })
    }),
  ],
  [
    /leaves nothing running/,
    'leaves a timer of its clock',
    faulty((hooks, host) => {
      host.clock.setTimeout(() => {}, 60_000)
      hooks.onStop.tap('x', () => {})
      hooks.beforeExecution.tap('y', () => {})
    }),
  ],
  [
    /leaves nothing running/,
    'throws in dispose',
    faulty((hooks) => {
      hooks.beforeExecution.tap('y', () => {})
      return {
        dispose: () => {
          throw new Error('no')
        },
      }
    }),
  ],
  [
    /leaves nothing running/,
    'leaves a listener of the process',
    faulty((hooks) => {
      process.on('SIGUSR2', noop)
      hooks.beforeExecution.tap('y', () => {})
    }),
  ],
  [
    /vetoes with NO/,
    'passes where it should stop',
    faulty((hooks) => hooks.beforeToolCall.tap('x', () => {})),
    { stopping: { point: 'beforeToolCall', code: 'NO' } },
  ],
]

function noop() {}

describe('hookPluginRows', () => {
  it.each(cases.map(([row, what, make, options]) => ({ row, what, make, options })))(
    'T-15: the row $row finds a plugin that $what',
    async ({ row: title, make, options }) => {
      const row = hookPluginRows(make, options).find((each) => title.test(each.title))
      expect(row).toBeDefined()
      await expect(Promise.resolve().then(() => row?.run())).rejects.toThrow()
      process.off('SIGUSR2', noop)
    },
  )

  it('rows that cannot be checked are skipped by name', () => {
    const skipped = hookPluginRows(() => deskLimit({ modelCalls: 1, toolCalls: 1 })).filter((row) => row.skip === true)
    expect(skipped.map((row) => row.title)).toEqual([
      'does no work at import (not checked: give `module`)',
      'stops in its stopping situation (not checked: give `stopping`)',
    ])
  })
})

describe('findImportWork', () => {
  const module = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`)

  it.each([
    ['nothing', 'export const a = 1', []],
    ['a timer', 'setInterval(() => {}, 1000)', ['setInterval']],
    ['a promise that starts one later', 'await null; setTimeout(() => {}, 5)', ['setTimeout']],
    ['a request', 'fetch("http://127.0.0.1:1/").catch(() => {})', ['fetch']],
    ['a listener', 'process.on("SIGUSR2", () => {})', ['a listener of the process']],
    ['a global', 'globalThis.registry = {}', ['the global registry']],
    ['the environment', 'process.env.X_SET = "1"', ['a change of the environment']],
    ['a server', 'import { createServer } from "node:net"; createServer().listen(0, "127.0.0.1")', ['a server']],
    ['a file', 'import { writeFileSync } from "node:fs"; writeFileSync("/dev/null", "x")', ['a change of files']],
    ['a process', 'import { spawn } from "node:child_process"; spawn(process.execPath, ["-v"])', ['a child process']],
  ])(
    'finds %s',
    async (_title, text, expected) => {
      expect(await findImportWork(module(text))).toEqual(expect.arrayContaining(expected))
      if (expected.length === 0) expect(await findImportWork(module(text))).toEqual([])
    },
    60_000,
  )
})

describe('hookPluginRows', () => {
  it.each([
    ['another answer', { code: 'ASK', answer: 'vetoed', earlier: [{ effectId: 'x' }] }, /answered paused ASK/],
    ['another code', { code: 'OTHER', answer: 'paused', earlier: [{ effectId: 'x' }] }, /answered paused ASK/],
    ['no stop', { code: 'ASK', answer: 'paused' }, /answered passed/],
    [
      'a stop too early',
      { code: 'ASK', answer: 'paused', earlier: [{ effectId: 'x' }, { effectId: 'y' }] },
      /did not pass/,
    ],
  ] as const)('the stopping row finds %s', async (_what, stopping, message) => {
    const rows = hookPluginRows(pausing, { stopping: { point: 'inspectToolInput', ...stopping } as never })
    const row = rows.find(({ title }) => title.includes('each time it is asked, and its answer is JSON'))
    await expect(Promise.resolve().then(() => row?.run())).rejects.toThrow(message)
  })

  it('an option that there is not is refused: its rows would be skipped', () => {
    const make = () => deskLimit({ modelCalls: 5, toolCalls: 3 })
    expect(() => hookPluginRows(make, { stoping: {} } as never)).toThrow(/cannot have "stoping"; there are module,/)
  })
})
