import type { Run, Runtime } from '@sluice/core'
import { defineTool, Pause, Veto } from '@sluice/core'
import { hang, providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Rig, RigOptions } from './support/rig.js'
import { ALL, caught, desk, gate, notes, plugin, rig } from './support/rig.js'

const input = z.object({})
const deny = () => {
  throw new Veto('DENIED', 'No.')
}

interface Way {
  readonly name: string
  readonly script: Parameters<typeof rig>[0]
  readonly options?: RigOptions
  /** Requests that are sent before the one that the gate denies. */
  readonly sent: number
  /** Denies the request, told by its context. */
  readonly denied: (context: {
    readonly round: number
    readonly depth: number
    readonly attempt: number
    readonly model: string
    readonly effectId: string
  }) => boolean
  go(given: Rig): Promise<unknown>
}

const ask = (handler: () => unknown) =>
  defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input, handler })
let current: Runtime | undefined

/** Every way in which a request reaches a provider. */
const WAYS: readonly Way[] = [
  { name: 'execute', script: [], sent: 0, denied: () => true, go: ({ run }) => run() },
  {
    name: 'the second round',
    script: [reply.toolCall('ask')],
    options: { agents: [desk([ask(() => 'x')])] },
    sent: 1,
    denied: ({ round }) => round === 2,
    go: ({ run }) => run(),
  },
  {
    name: 'stream',
    script: [],
    sent: 0,
    denied: () => true,
    go: ({ runtime, end }) => end(runtime.stream({ agent: 'desk' }).run),
  },
  {
    name: 'a retry',
    script: [providerError(500)],
    options: { settings: { retry: { attempts: 2, backoffMs: 1, maxBackoffMs: 1 } } },
    sent: 1,
    denied: ({ attempt }) => attempt === 2,
    go: ({ run }) => run(),
  },
  {
    name: 'a fallback',
    script: [providerError(500)],
    options: { settings: { fallback: ['scripted/other'] } },
    sent: 1,
    denied: ({ model }) => model === 'other',
    go: ({ run }) => run(),
  },
  {
    name: 'a follow-up turn',
    script: ['First.'],
    sent: 1,
    denied: () => turn === 2,
    go: async ({ run }) => {
      turn = 1
      await run({ sessionId: 's-1' })
      turn = 2
      return run({ sessionId: 's-1', followUp: 'And?' })
    },
  },
  {
    name: 'a nested run of a handler',
    script: [reply.toolCall('ask')],
    options: {
      agents: [
        desk([ask(async () => (await (current as Runtime).execute({ agent: 'below' })).text)]),
        desk([], { code: 'below' }),
      ],
    },
    sent: 1,
    denied: ({ depth }) => depth === 1,
    go: ({ run }) => run(),
  },
  {
    name: 'a run behind a tool',
    script: [reply.toolCall('ask')],
    options: {
      agents: [
        desk([defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input, agent: 'below' })]),
        desk([], { code: 'below' }),
      ],
    },
    sent: 1,
    denied: ({ depth }) => depth === 1,
    go: ({ run }) => run(),
  },
  {
    name: 'generateText',
    script: [],
    sent: 0,
    denied: () => true,
    go: ({ runtime, clock }) => clock.settle(settled(runtime.generateText({ model: 'scripted/m', prompt: 'x' }))),
  },
  {
    name: 'generateText in a handler',
    script: [reply.toolCall('ask')],
    options: {
      agents: [
        desk([
          ask(async () => (await (current as Runtime).generateText({ model: 'scripted/judge', prompt: 'x' })).text),
        ]),
      ],
    },
    sent: 1,
    denied: ({ model }) => model === 'judge',
    go: ({ run }) => run(),
  },
  {
    name: 'executeProfile',
    script: [],
    options: { prompts: [{ code: 'summary', user_prompt_template: 'Sum up.', provider: 'scripted', model: 'm' }] },
    sent: 0,
    denied: () => true,
    go: ({ runtime, clock }) => clock.settle(settled(runtime.executeProfile({ profile: 'summary' }))),
  },
  {
    name: 'a resumed run',
    script: [reply.toolCall('write_note')],
    options: { agents: [desk([notes().tool])] },
    sent: 1,
    denied: ({ round }) => round === 2,
    go: async ({ run, runtime, end }) => {
      const paused = (await run()).run as Run
      const [{ effectId = '' } = {}] = paused.pending
      await runtime.decide(paused.executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
      return end(runtime.resume(paused.executionId, ALL))
    },
  },
]
let turn = 0

describe('every model call passes the gates', () => {
  it.each(WAYS)('$name', async ({ script, options, sent, denied, go }) => {
    const human = gate(
      'inspectToolInput',
      ({ toolCode, decision }) => {
        if (toolCode === 'write_note' && decision === undefined) throw new Pause('APPROVE')
      },
      { name: 'human' },
    )
    const given = await rig(script, {
      ...options,
      plugins: [gate('beforeModelCall', (context) => (denied(context) ? deny() : undefined)), human],
    })
    current = given.runtime
    const ended = (await go(given)) as { readonly code?: string; readonly error?: { readonly code: string } }
    expect(ended.code ?? ended.error?.code).toBe('DENIED')
    expect(given.provider.calls).toHaveLength(sent)
  })
})

describe('H-1, H-35: what a plugin does to the runtime from inside', () => {
  const interferes = (fn: (runtime: Runtime) => unknown) =>
    gate('beforeExecution', async () => void (await fn(current as Runtime)), { name: 'interferes' })

  it('setHooks in a gate changes nothing for the run that it is in', async () => {
    const { tool, calls } = notes()
    const given = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [interferes((runtime) => runtime.setHooks([])), gate('beforeToolCall', deny)],
    })
    current = given.runtime
    expect((await given.run()).code).toBe('DENIED')
    expect(calls).toEqual([])
    expect(given.runtime.health().hooks).toMatchObject({ origin: 'override', plugins: [] })
  })

  it('close in a gate ends the run as aborted', async () => {
    const given = await rig([], { plugins: [interferes((runtime) => runtime.close())] })
    current = given.runtime
    expect((await caught(given.runtime.execute({ agent: 'desk' }))).code).toBe('RUN_ABORTED')
  })

  it('cancel of its own run in a gate ends it, whatever the gate says then', async () => {
    const { tool, calls } = notes()
    const given = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [
        gate(
          'beforeToolCall',
          async ({ rootExecutionId }) => void (await (current as Runtime).cancel(rootExecutionId, ALL)),
        ),
      ],
    })
    current = given.runtime
    expect((await given.run()).code).toBe('RUN_ABORTED')
    expect(calls).toEqual([])
  })

  it('a plugin cannot tap, remove or reorder anything once runs go on', async () => {
    const codes: string[] = []
    const attempt = (fn: () => unknown) => {
      try {
        fn()
      } catch (error) {
        codes.push((error as { code?: string; name: string }).code ?? (error as Error).name)
      }
    }
    const { tool, calls } = notes()
    const meddler = plugin('meddler', (hooks) => {
      hooks.beforeExecution.tap('meddle', () => {
        attempt(() => hooks.beforeToolCall.tap('late', () => {}))
        attempt(() => Object.assign(hooks, { beforeToolCall: undefined }))
        attempt(() => Object.assign(hooks.beforeToolCall, { taps: [] }))
        attempt(() => (hooks.beforeToolCall as unknown as { intercept(options: object): void }).intercept({}))
      })
    })
    const given = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [meddler, gate('beforeToolCall', deny)],
    })
    expect((await given.run()).code).toBe('DENIED')
    expect([calls, codes]).toEqual([[], ['HOOKS_SEALED', 'TypeError', 'TypeError', 'HOOK_REGISTRATION']])
  })

  it('a run that waits for its provider is still watched, whatever else goes on in the runtime', async () => {
    const given = await rig([hang()], {
      plugins: [gate('whileInFlight', ({ effectId }) => (effectId === first ? deny() : void (first ??= effectId)))],
    })
    let first: string | undefined
    const running = given.end(given.runtime.execute({ agent: 'desk' }))
    await given.runtime.setHooks([])
    expect((await running).code).toBe('DENIED')
  })
})

async function settled(call: Promise<unknown>): Promise<{ readonly code?: string }> {
  try {
    await call
    return {}
  } catch (error) {
    return error as { readonly code: string }
  }
}
