import { readFile } from 'node:fs/promises'
import type { HookPoint, Hooks, RunEvent } from '@sluice/core'
import { createMemoryStore, getExecutionContext, HOOK_POINTS, Veto } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, gate, notes, plugin, rig } from './support/rig.js'
import { tellingWrites } from './support/writing-store.js'

const pathOf = (effectId: unknown) => String(effectId).split('/').slice(1).join('/')

/** One timeline of hooks, events, requests, handlers and store writes. */
function timeline() {
  const lines: string[] = []
  const tell = (line: string) => void lines.push(line)
  const all = plugin('timeline', (hooks) => {
    for (const point of Object.keys(HOOK_POINTS) as HookPoint[]) {
      if (point === 'whileInFlight') continue
      const hook = hooks[point] as unknown as Hooks['onStop']
      hook.tap('tell', ((context: unknown) => {
        if (point === 'onEvent') tell(`event ${(context as RunEvent).type}`)
        else if (point === 'augmentSystemPrompt') tell(point)
        else tell(describeHook(point, context as Readonly<Record<string, unknown>>))
      }) as never)
    }
  })
  const store = tellingWrites(createMemoryStore(), (write, args) => {
    const status = (
      args.find((arg) => arg !== null && typeof arg === 'object' && 'status' in arg) as { status?: unknown } | undefined
    )?.status
    tell(`store ${write}${status === undefined ? '' : ` ${String(status)}`}`)
  })
  return { lines, tell, plugin: all, store }
}

function describeHook(point: HookPoint, context: Readonly<Record<string, unknown>>): string {
  const outcome = context.outcome ?? context.status ?? context.code
  const effect = point === 'afterExecution' ? '' : ` ${pathOf(context.effectId)}`
  return `${point}${effect}${outcome === undefined ? '' : ` ${String(outcome)}`}`
}

describe('H-1, H-9, T-20, T-W3: the order of a run', () => {
  it('of two rounds with several tools is the documented list of hooks, events and store writes', async () => {
    const page = await readFile(new URL('../../docs/hook-order.md', import.meta.url), 'utf8')
    const documented = /```text\n([\s\S]*?)```/.exec(page)?.[1]?.trimEnd().split('\n')
    const { lines, tell, plugin: all, store } = timeline()
    const tool = (code: string, effect: 'read' | 'write') =>
      notes({
        code,
        effect,
        authorize: () => tell(`authorize ${code}`),
        handler: ({ text }) => (tell(`handler ${code} ${text}`), 'done'),
      }).tool
    const request = (step: ReturnType<typeof reply>, number: number) => () => (tell(`request m${number}`), step)
    const given = await rig(
      [
        request(
          reply('Let me see.')
            .toolCall('look', { text: 'a' })
            .toolCall('note', { text: 'b' })
            .toolCall('note', { text: 'c' }),
          1,
        ),
        request(reply.toolCall('look', { text: 'd' }).toolCall('look', { text: 'e' }), 2),
        request(reply('Done.'), 3),
      ],
      { agents: [desk([tool('look', 'read'), tool('note', 'write')])], plugins: [all], store },
    )
    lines.length = 0
    expect((await given.run()).run?.text).toBe('Done.')
    console.log(lines.join('\n'))
    expect(lines).toEqual(documented)
  })

  it('H-10, T-20: nothing is asked and nothing is stored when a step before the first gate fails', async () => {
    const { lines, plugin: all, store } = timeline()
    const given = await rig([], {
      agents: [desk(), desk([], { code: 'needs', requiredContext: ['clerk'] })],
      plugins: [all],
      store,
    })
    lines.length = 0
    const codes = [
      (await given.run({ agent: 'nobody' })).code,
      (await given.run({ agent: 'needs' })).code,
      (await given.run({ followUp: 'And?' })).code,
      (await given.run({ sessionId: 's-1', runContext: { clerk: Number.NaN } as never })).code,
    ]
    expect(codes).toEqual(['NOT_FOUND', 'RUN_CONTEXT_MISSING', 'INVALID_CONFIG', 'INVALID_CONFIG'])
    expect(lines).toEqual([])
  })

  it('H-11, T-20, T-23: a veto at the start leaves its receipt and nothing else', async () => {
    const { lines, plugin: all, store } = timeline()
    const given = await rig([], {
      plugins: [
        all,
        gate('beforeExecution', () => {
          throw new Veto('NO', 'No.')
        }),
      ],
      store,
    })
    lines.length = 0
    expect((await given.run()).code).toBe('NO')
    expect(lines).toEqual(['beforeExecution execution', 'onStop execution NO', 'store receipts.append'])
    expect(given.provider.calls).toEqual([])
  })

  it('H-17: beforeExecution is given the run context as it is bound, also that of an earlier turn, and cannot change it', async () => {
    const seen: unknown[] = []
    const looking = gate('beforeExecution', (context) => {
      seen.push(context.runContext)
      expect(Object.isFrozen(context.runContext)).toBe(true)
      if (context.runContext.clerk === undefined) throw new Veto('CLERK_REQUIRED', 'No clerk is bound.')
    })
    const given = await rig(['One.', 'Two.'], { plugins: [looking] })
    expect((await given.run()).code).toBe('CLERK_REQUIRED')
    await given.run({ sessionId: 's-1', runContext: { clerk: 'petra.k', desk: 7 } })
    await given.run({ sessionId: 's-1', runContext: { urgent: true } })
    expect(seen).toEqual([{}, { clerk: 'petra.k', desk: 7 }, { clerk: 'petra.k', desk: 7, urgent: true }])
  })

  it('H-17, T-22: the execution context is empty in beforeExecution, filled from the record on, and cleared after success and failure', async () => {
    const seen: (readonly [string, boolean])[] = []
    const { tool } = notes()
    const looking = plugin('looking', (hooks) => {
      for (const point of [
        'beforeExecution',
        'augmentSystemPrompt',
        'beforeModelCall',
        'beforeToolCall',
        'afterExecution',
      ] as const)
        (hooks[point] as unknown as Hooks['onStop']).tap(
          'x',
          () => void seen.push([point, getExecutionContext().executionId !== null]),
        )
    })
    let veto = false
    const given = await rig([reply.toolCall('write_note'), 'Done.', reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [looking, gate('inspectToolInput', () => (veto ? false : undefined))],
    })
    await given.run()
    expect(getExecutionContext().executionId).toBeNull()
    expect(seen).toEqual([
      ['beforeExecution', false],
      ['augmentSystemPrompt', true],
      ['beforeModelCall', true],
      ['beforeToolCall', true],
      ['beforeModelCall', true],
      ['afterExecution', true],
    ])
    veto = true
    await given.run()
    expect(getExecutionContext()).toMatchObject({ executionId: null, agentCode: null, runContext: {} })
  })
})
