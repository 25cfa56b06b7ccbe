import type { Runtime, SluiceError } from '@sluice/core'
import { defineTool, getExecutionContext, HookFailedError } from '@sluice/core'
import { latch, reply } from '@sluice/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hearRejections } from './property/hear-rejections.js'
import { ALL, caught, closingLines, desk, gate, notes, plugin, rig, watcher } from './support/rig.js'

const rejections = hearRejections()
beforeAll(rejections.listen)
afterAll(rejections.stop)

const judge = (runtime: Runtime) => runtime.generateText({ model: 'scripted/judge', prompt: 'Is this in order?' })

describe('a gate that calls the runtime', () => {
  it.each(['beforeExecution', 'beforeToolCall', 'inspectToolInput'] as const)(
    'at %s may ask a model; the call belongs to the run and passes its gates',
    async (point) => {
      const { tool, calls } = notes()
      const asked: string[] = []
      const seen = watcher()
      const said: (string | null)[] = []
      const given = await rig(
        point === 'beforeExecution'
          ? ['In order.', reply.toolCall('write_note', { text: 'a' }), 'Done.']
          : [reply.toolCall('write_note', { text: 'a' }), 'In order.', 'Done.'],
        {
          agents: [desk([tool])],
          plugins: [
            gate(point, async () => void said.push((await judge(given.runtime)).text), { name: 'judge' }),
            gate(
              'beforeModelCall',
              ({ effectId, model }) => void asked.push(`${effectId.split('/').slice(1).join('/')} ${model}`),
              { name: 'rule' },
            ),
            seen.plugin,
          ],
        },
      )
      const { run } = await given.run()
      expect([run?.text, calls, said]).toEqual(['Done.', ['a'], ['In order.']])
      const path = point === 'beforeExecution' ? `execution/${point}/g1/m1 judge` : `m1.t1/${point}/g1/m1 judge`
      expect(asked.sort()).toEqual(['m1 model-1', 'm2 model-1', path].sort())
      // its tokens are added to those of the run
      expect(run?.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 })
      expect(closingLines(seen.afterModelCall)).toHaveLength(3)
    },
  )

  it('in beforeExecution there is no execution yet: its call names none, in no context and no receipt', async () => {
    const told: (string | null)[] = []
    const inside: (string | null)[] = []
    const { tool } = notes({ handler: () => (inside.push(getExecutionContext().executionId), 'written') })
    const given = await rig([reply.toolCall('write_note'), 'In order.', 'Done.'], {
      plugins: [
        gate(
          'beforeExecution',
          async () => void (await given.runtime.generateText({ model: 'scripted/judge', prompt: 'x', tools: [tool] })),
          { name: 'judge' },
        ),
        gate('beforeModelCall', ({ executionId }) => void told.push(executionId), { name: 'rule' }),
      ],
    })
    const { run } = await given.run()
    expect(told).toEqual([null, null, run?.executionId])
    expect(inside).toEqual([null])
  })

  it.each([
    ['beforeModelCall', [], 0],
    ['inspectReply', ['An answer.'], 1],
  ] as const)(
    'GATE_REENTERED: at %s it cannot come back to its own point; nothing is sent, and what it does with the error is its own',
    async (point, script, sent) => {
      const given = await rig([...script], { plugins: [gate(point, () => judge(given.runtime).then(() => undefined))] })
      const { error } = await given.run()
      expect(error).toMatchObject({ code: 'HOOK_FAILED', cause: { code: 'GATE_REENTERED', details: { point } } })
      expect(given.provider.calls).toHaveLength(sent)

      const tolerant = await rig(['An answer.'], {
        plugins: [
          gate(point, () =>
            judge(tolerant.runtime).then(
              () => undefined,
              () => undefined,
            ),
          ),
        ],
      })
      expect((await tolerant.run()).run?.text).toBe('An answer.')
    },
  )

  it('GATE_REENTERED: nor through a tool of that call, or an agent run in it', async () => {
    const { tool, calls } = notes()
    const codes: unknown[] = []
    const given = await rig(
      [reply.toolCall('write_note', { text: 'a' }), reply.toolCall('write_note', { text: 'from the gate' }), 'Done.'],
      {
        agents: [desk([tool])],
        plugins: [
          gate('beforeToolCall', async () => {
            await given.runtime
              .generateText({ model: 'scripted/judge', prompt: 'x', tools: [tool] })
              .catch((error: unknown) => codes.push((error as SluiceError).code))
          }),
        ],
      },
    )
    expect((await given.run()).run?.text).toBe('Done.')
    expect([codes, calls]).toEqual([['GATE_REENTERED'], ['a']])
  })

  it('GATE_REENTERED: an agent run that beforeExecution starts comes back to beforeExecution', async () => {
    const given = await rig([], {
      plugins: [gate('beforeExecution', () => given.runtime.execute({ agent: 'desk' }).then(() => undefined))],
    })
    expect((await given.run()).error).toMatchObject({ code: 'HOOK_FAILED', cause: { code: 'GATE_REENTERED' } })
    expect((await given.runtime.executions.list(ALL)).items).toEqual([])
  })

  it('GATE_REENTERED: a call from whileInFlight that is open long enough to be watched ends, and the run goes on as the gate decides', async () => {
    const door = latch()
    const codes: unknown[] = []
    const given = await rig(
      [async () => (await door.wait(), 'Done.'), async (_request, { signal }) => (await latch().wait(signal), 'never')],
      {
        plugins: [
          gate('whileInFlight', async ({ model }) => {
            if (model === 'judge') return
            await judge(given.runtime).catch((error: unknown) => codes.push((error as SluiceError).code))
            door.open()
          }),
        ],
      },
    )
    expect((await given.run()).run?.text).toBe('Done.')
    expect([codes, given.clock.monotonic(), rejections.take()]).toEqual([['GATE_REENTERED'], 2_000, []])
  })

  it('runtime.detached is the way out: what it starts is not nested and asks every gate anew', async () => {
    const depths: unknown[] = []
    const given = await rig(['In order.', 'Done.'], {
      plugins: [
        gate('beforeModelCall', async ({ model, rootExecutionId }) => {
          depths.push([model, rootExecutionId === root])
          root ??= rootExecutionId
          if (model !== 'judge') await given.runtime.detached(() => judge(given.runtime))
        }),
      ],
    })
    let root: string | undefined
    expect((await given.run()).run?.text).toBe('Done.')
    expect(depths).toEqual([
      ['model-1', false],
      ['judge', false],
    ])
  })

  it('a stop inside its call ends the run, also where the gate catches it', async () => {
    const given = await rig([], {
      plugins: [
        gate(
          'beforeExecution',
          () =>
            judge(given.runtime).then(
              () => undefined,
              () => undefined,
            ),
          { name: 'judge' },
        ),
        gate('beforeModelCall', () => false, { name: 'broken' }),
      ],
    })
    expect((await given.run()).error).toMatchObject({ code: 'HOOK_FAILED', by: { plugin: 'broken' } })
  })

  it('its call is ended when its deadline has passed: nothing of it follows the end of the run', async () => {
    const seen = watcher()
    const given = await rig([async (_request, { signal }) => (await latch().wait(signal), 'never')], {
      plugins: [
        gate('beforeExecution', () => judge(given.runtime).then(() => undefined), { timeoutMs: 500 }),
        seen.plugin,
      ],
    })
    const { error } = await given.run()
    expect(error).toMatchObject({ failure: 'timed_out' })
    expect(closingLines(seen.afterModelCall)).toEqual(['execution/beforeExecution/g1/m1#1 aborted unknown'])
    const names = (await given.receipts(seen.onStop[0]?.rootExecutionId ?? '')).map(({ effectId }) =>
      effectId.split('/').slice(1).join('/'),
    )
    expect(names.sort()).toEqual(['execution', 'execution/beforeExecution/g1/m1'])
  })
})

describe('RUN_OVER', () => {
  it('a call made inside a run that has ended is refused; detached is the way out', async () => {
    let late: (() => Promise<unknown>) | undefined
    let apart: (() => Promise<unknown>) | undefined
    const { tool } = notes({
      handler: () => {
        late = bound(() => judge(given.runtime))
        apart = bound(() => given.runtime.detached(() => judge(given.runtime)))
        return 'written'
      },
    })
    const given = await rig([reply.toolCall('write_note'), 'Done.', 'In order.'], { agents: [desk([tool])] })
    await given.run()
    await expect(late?.()).rejects.toMatchObject({ code: 'RUN_OVER' })
    await expect(apart?.()).resolves.toMatchObject({ text: 'In order.' })
  })

  it('a call that nobody awaits is ended with the run: nothing of it follows, and what it did is on record', async () => {
    let forgotten: Promise<unknown> | undefined
    const seen = watcher()
    const { tool } = notes({
      handler: () => {
        forgotten = judge(given.runtime)
        forgotten.catch(() => {})
        return 'written'
      },
    })
    const given = await rig(
      [reply.toolCall('write_note'), async (_request, { signal }) => (await latch().wait(signal), 'never'), 'Done.'],
      {
        agents: [desk([tool])],
        plugins: [gate('beforeModelCall', () => undefined), seen.plugin],
      },
    )
    const { run } = await given.run()
    expect(run?.status).toBe('completed')
    await expect(forgotten).rejects.toMatchObject({ code: 'RUN_OVER' })
    expect(closingLines(seen.afterModelCall)).toContain('m1.t1/g1/m1#1 aborted unknown')
    expect(
      (await given.receipts(run?.executionId ?? '')).some(({ effectId }) => effectId.endsWith('/m1.t1/g1/m1')),
    ).toBe(true)
    expect(seen.afterModelCall).toHaveLength(3)
    await given.clock.tick(100_000)
    expect(seen.afterModelCall).toHaveLength(3)
    expect(rejections.take()).toEqual([])
  })

  it('an observer of afterExecution is told when the run has ended, so its calls are refused too', async () => {
    const codes: unknown[] = []
    const given = await rig(['Done.'], {
      plugins: [
        plugin('late', (hooks) =>
          hooks.afterExecution.tap('ask', () =>
            judge(given.runtime).then(
              () => undefined,
              (error: unknown) => void codes.push((error as SluiceError).code),
            ),
          ),
        ),
      ],
    })
    await given.run()
    expect(codes).toEqual(['RUN_OVER'])
  })
})

describe('H-16, O-20: where a call belongs', () => {
  it('an agent run that a plain call starts has hooks, session and record of its own, and shares bounds and stops', async () => {
    const seen = watcher()
    const roots: string[] = []
    const run = defineTool({
      code: 'run',
      description: 'Runs the desk.',
      effect: 'read',
      input: z.object({}),
      handler: async () => (await given.runtime.execute({ agent: 'desk' })).text,
    })
    const given = await rig([reply.toolCall('run'), 'From the desk.', 'Done.'], {
      plugins: [gate('beforeExecution', ({ rootExecutionId }) => void roots.push(rootExecutionId)), seen.plugin],
    })
    await given.runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [run] })
    const [row] = (await given.runtime.executions.list(ALL)).items
    expect(roots).toEqual([row?.id])
    expect(row).toMatchObject({ parentExecutionId: null, status: 'completed' })
    expect(seen.afterExecution).toHaveLength(1)
  })

  it('a run on an unrelated runtime is top-level there, and records the execution around it', async () => {
    const other = await rig(['From elsewhere.'], { seed: 9 })
    const { tool } = notes({ handler: async () => (await other.runtime.execute({ agent: 'desk' })).text })
    const given = await rig([reply.toolCall('write_note'), 'Done.'], { agents: [desk([tool])] })
    const { run } = await given.run()
    const [row] = (await other.runtime.executions.list(ALL)).items
    expect(row).toMatchObject({ parentExecutionId: null, outerExecutionId: run?.executionId, depth: 0 })
  })

  it('a failed gate of a nested run is told with the nested run, its agent and its depth', async () => {
    const seen = watcher()
    const handler = async () => (await given.runtime.execute({ agent: 'below' })).text
    const ask = defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input: z.object({}), handler })
    const given = await rig([reply.toolCall('ask')], {
      agents: [desk([ask]), desk([], { code: 'below' })],
      plugins: [gate('beforeModelCall', ({ agentCode }) => (agentCode === 'below' ? false : undefined)), seen.plugin],
    })
    const { error } = await caught(given.runtime.execute({ agent: 'desk' }))
    expect(HookFailedError.isInstance(error)).toBe(true)
    const rows = (await given.runtime.executions.list(ALL)).items
    const below = rows.find(({ agentCode }) => agentCode === 'below')
    expect(seen.onStop).toMatchObject([
      { agentCode: 'below', executionId: below?.id, rootExecutionId: error?.partial?.executionId },
    ])
  })
})

/** Keeps the place in which it is called, as a timer or an emitter of a handler does. */
function bound<Result>(fn: () => Promise<Result>): () => Promise<Result> {
  let go: () => void = () => {}
  const started = new Promise<void>((resolve) => {
    go = resolve
  })
  const result = started.then(fn)
  result.catch(() => {})
  return () => {
    go()
    return result
  }
}
