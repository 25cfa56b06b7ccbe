import type { PausedRun, Run, Runtime } from '@sluice/core'
import { defineTool, Pause } from '@sluice/core'
import type { ScriptRule } from '@sluice/testkit'
import { on, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ALL, desk, gate, notes, rig } from './support/rig.js'

const input = z.object({})
const read = (code: string, more: object) =>
  defineTool({ code, description: 'Looks.', effect: 'read', input, ...more } as never)

/** Pauses each note until somebody has decided about it. */
const human = gate(
  'inspectToolInput',
  ({ toolCode, decision }) => {
    if (toolCode === 'write_note' && decision === undefined) throw new Pause('APPROVE')
  },
  { name: 'human' },
)

const paused = (run: Run | undefined): PausedRun => {
  if (run?.status !== 'paused') throw new Error(`the run is ${run?.status}, not paused`)
  return run
}

const lines = (run: Run | undefined) => run?.toolCalls.map(({ toolCode, status }) => `${toolCode} ${status}`)

async function approve(runtime: Runtime, run: PausedRun): Promise<void> {
  for (const { effectId } of run.pending)
    await runtime.decide(run.executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
}

it('S-20: a run below that was not come to between two pauses keeps what it had used and called before', async () => {
  let strict = false
  const careful = gate(
    'inspectToolInput',
    ({ toolCode, agentCode, decision }) => {
      if (toolCode === 'write_note' && (agentCode === 'below' || strict) && decision === undefined)
        throw new Pause('APPROVE')
    },
    { name: 'careful' },
  )
  const { tool } = notes()
  const find = read('find', { handler: () => 'found' })
  const look = read('look', {
    handler: async () =>
      (await given.runtime.generateText({ model: 'scripted/judge', prompt: 'Find', tools: [find] })).text,
  })
  const given = await rig(
    [
      on('Go on.', reply.toolCall('ask').toolCall('write_note')),
      on('Below', reply.toolCall('look')),
      on('Find', reply.toolCall('find')),
      on('Find', 'Found.'),
      on('Below', reply.toolCall('write_note')),
      on('Below', 'Written.'),
      on('Go on.', 'Done.'),
    ],
    {
      agents: [
        desk([tool, read('ask', { agent: 'below' }) as never]),
        desk([tool, look as never], { code: 'below', user: 'Below' }),
      ],
      plugins: [careful],
    },
  )
  const first = paused((await given.run()).run)
  await approve(given.runtime, first)
  // now the second call of the round waits too, before the first one is gone on with
  strict = true
  const resume = async () => (await given.end(given.runtime.resume(first.executionId, ALL))).run
  const second = paused(await resume())
  expect(second.pending).toMatchObject([{ agentCode: 'desk', toolCode: 'write_note' }])
  await approve(given.runtime, second)
  expect((await resume())?.text).toBe('Done.')
  const rows = (await given.store.executions.list({ rootExecutionId: first.executionId, limit: 10 })).items
  // its own three requests and the two of the call in its handler, 10 in and 5 out each
  expect(rows.find(({ agentCode }) => agentCode === 'below')).toMatchObject({
    status: 'completed',
    inputTokens: 50,
    outputTokens: 25,
    toolCallsCount: 3,
  })
})

it('S-20: what a run below waits for stays open where a resume pauses again before it comes to it', async () => {
  let strict = false
  const careful = gate(
    'inspectToolInput',
    ({ toolCode, agentCode, decision }) => {
      if (toolCode === 'write_note' && (agentCode === 'below' || strict) && decision === undefined)
        throw new Pause('APPROVE')
    },
    { name: 'careful' },
  )
  const { tool, calls } = notes()
  const given = await rig(
    [
      on('Go on.', reply.toolCall('ask').toolCall('write_note')),
      on('Below', reply.toolCall('write_note')),
      on('Below', 'Written.'),
      on('Go on.', 'Done.'),
    ],
    {
      agents: [desk([tool, read('ask', { agent: 'below' }) as never]), desk([tool], { code: 'below', user: 'Below' })],
      plugins: [careful],
    },
  )
  const first = paused((await given.run()).run)
  strict = true
  const second = paused(await given.runtime.resume(first.executionId, ALL))
  expect(second.pending.map(({ agentCode }) => agentCode).sort()).toEqual(['below', 'desk'])
  expect(second.pending).toContainEqual(first.pending[0])
  await approve(given.runtime, second)
  expect(await given.runtime.resume(first.executionId, ALL)).toMatchObject({ status: 'completed', text: 'Done.' })
  expect(calls).toHaveLength(2)
})

it('CASE-06: a decision counts for its arguments alone also where another pause came between it and its effect', async () => {
  let strict = false
  let drift = 0
  const paid: number[] = []
  const pay = defineTool({
    code: 'pay',
    description: 'Pays.',
    effect: 'write',
    input: z.object({ amount: z.number().default(() => (drift += 1000)) }),
    handler: ({ amount }) => void paid.push(amount),
  })
  const careful = gate(
    'inspectToolInput',
    ({ toolCode, decision }) => {
      if ((toolCode === 'pay' || (toolCode === 'write_note' && strict)) && decision === undefined)
        throw new Pause('APPROVE')
    },
    { name: 'careful' },
  )
  const given = await rig(
    [on('Go on.', reply.toolCall('ask').toolCall('write_note')), on('Below', reply.toolCall('pay', {}))],
    {
      agents: [
        desk([notes().tool, read('ask', { agent: 'below' }) as never]),
        desk([pay as never], { code: 'below', user: 'Below' }),
      ],
      plugins: [careful],
    },
  )
  const first = paused((await given.run()).run)
  await approve(given.runtime, first)
  strict = true
  await approve(given.runtime, paused(await given.runtime.resume(first.executionId, ALL)))
  const third = paused(await given.runtime.resume(first.executionId, ALL))
  expect(third.pending.map(({ toolCode }) => toolCode)).toEqual(['pay'])
  expect(paid).toEqual([])
})

describe('A-43: the timeout of a run that was paused', () => {
  const timed = { timeoutSeconds: 10 }
  /** A run, or one below it, that takes 4 s, waits for a human, takes 4 s more, waits again, and takes `last` ms. */
  async function takesParts(depth: 'top' | 'below', last: number, after: readonly ScriptRule[]) {
    const times = [4_000, 4_000, last]
    const slow = read('slow', {
      handler: () => new Promise((resolve) => void given.clock.setTimeout(() => resolve('done'), times.shift() ?? 0)),
    })
    const { tool } = notes()
    const given = await rig(
      [
        on('Go on.', reply.toolCall('ask')),
        ...['slow', 'write_note', 'slow', 'write_note', 'slow'].map((code) => on('Work', reply.toolCall(code))),
        ...after,
      ],
      {
        agents: [
          desk([read('ask', { agent: 'worker' }) as never], depth === 'top' ? timed : {}),
          desk([tool, slow as never], { code: 'worker', user: 'Work', ...(depth === 'below' ? timed : {}) }),
        ],
        plugins: [human],
      },
    )
    let { run, error } = await given.run()
    const { executionId } = paused(run)
    for (let pause = 0; pause < 2; pause++) {
      await given.clock.tick(3_600_000)
      await approve(given.runtime, paused(run))
      ;({ run, error } = await given.end(given.runtime.resume(executionId, ALL)))
    }
    const rows = (await given.store.executions.list({ rootExecutionId: executionId, limit: 10 })).items
    return { run, error, rows }
  }

  it.each(['top', 'below'] as const)('does not count the pauses (%s)', async (depth) => {
    const { run } = await takesParts(depth, 1_900, [on('Work', 'Worked.'), on('Go on.', 'Done.')])
    expect(run?.text).toBe('Done.')
  })

  it('counts what the run took before them: RUN_TIMEOUT of the top run', async () => {
    const { error } = await takesParts('top', 2_100, [])
    expect(error?.code).toBe('RUN_TIMEOUT')
  })

  it('counts what a run below took before them: it ends by its timeout, and the run above is told', async () => {
    const { run, rows } = await takesParts('below', 2_100, [on('Go on.', 'Done.')])
    expect([run?.text, run?.toolCalls.map(({ status }) => status)]).toEqual(['Done.', ['error']])
    const below = rows.find(({ agentCode }) => agentCode === 'worker')
    expect(below).toMatchObject({ status: 'timeout', failureKind: 'timeout', error: { code: 'RUN_TIMEOUT' } })
  })
})

it('A-43: a run that waits does not take the time of one that works beside it', async () => {
  const wait = (ms: number) => ({
    handler: () => new Promise((resolve) => void given.clock.setTimeout(() => resolve('done'), ms)),
  })
  const { tool } = notes(wait(3_000))
  const given = await rig(
    [
      on('Go on.', reply.toolCall('waits').toolCall('works')),
      on('Wait', reply.toolCall('write_note')),
      on('Work', reply.toolCall('slow')),
      on('Work', 'Worked.'),
      on('Wait', 'Waited.'),
      on('Go on.', 'Done.'),
    ],
    {
      agents: [
        desk([read('waits', { agent: 'waiter' }) as never, read('works', { agent: 'worker' }) as never]),
        desk([tool], { code: 'waiter', user: 'Wait', timeoutSeconds: 5 }),
        desk([read('slow', wait(20_000)) as never], { code: 'worker', user: 'Work' }),
      ],
      plugins: [human],
      settings: { toolConcurrency: 2 },
    },
  )
  const waiting = paused((await given.run()).run)
  await approve(given.runtime, waiting)
  const { run } = await given.end(given.runtime.resume(waiting.executionId, ALL))
  expect([run?.text, run?.toolCalls.map(({ status }) => status)]).toEqual(['Done.', ['ok', 'ok']])
})

describe('S-4: the tool calls of a resumed run', () => {
  it('are those of the run that was paused: calls that its handlers and gates made stand at their places, each once', async () => {
    const { tool } = notes()
    const find = read('find', { handler: () => 'found' })
    const call = () => given.runtime.generateText({ model: 'scripted/judge', prompt: 'Find', tools: [find] })
    const look = read('look', { handler: async () => (await call()).text })
    const judge = gate('beforeExecution', async () => void (await call()), { name: 'judge' })
    const given = await rig(
      [
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Go on.', reply.toolCall('look')),
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Go on.', reply.toolCall('write_note', { text: 'one' }).toolCall('look')),
        // the resume asks beforeExecution again, which makes its call again
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Go on.', reply.toolCall('write_note', { text: 'two' })),
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Go on.', 'Done.'),
      ],
      { agents: [desk([tool, look as never])], plugins: [judge, human] },
    )
    const first = paused((await given.run()).run)
    expect(lines(first)).toEqual(['find ok', 'find ok', 'look ok', 'write_note not_run', 'look not_run'])
    await approve(given.runtime, first)
    const resume = async () => (await given.end(given.runtime.resume(first.executionId, ALL))).run
    const second = paused(await resume())
    const before = ['find ok', 'find ok', 'find ok', 'look ok', 'find ok', 'write_note ok', 'look ok']
    expect(lines(second)).toEqual([...before, 'write_note not_run'])
    await approve(given.runtime, second)
    const done = await resume()
    expect(lines(done)).toEqual([before[0], ...before, 'write_note ok'])
    const row = await given.store.executions.get(first.executionId)
    expect(row?.toolCallsCount).toBe(9)
  })

  it('of a run below it too, and in what a failed run tells', async () => {
    const { tool } = notes({
      handler: () => {
        throw new Error('The disk is full.')
      },
    })
    const find = read('find', { handler: () => 'found' })
    const look = read('look', {
      handler: async () =>
        (await given.runtime.generateText({ model: 'scripted/judge', prompt: 'Find', tools: [find] })).text,
    })
    const given = await rig(
      [
        on('Go on.', reply.toolCall('look')),
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Go on.', reply.toolCall('ask')),
        on('Below', reply.toolCall('look')),
        on('Find', reply.toolCall('find')),
        on('Find', 'Found.'),
        on('Below', reply.toolCall('write_note')),
        on('Below', 'Written.'),
        on('Go on.', reply.toolCall('write_note')),
      ],
      {
        agents: [
          desk([tool, look as never, read('ask', { agent: 'below' }) as never]),
          desk([tool, look as never], { code: 'below', user: 'Below', settings: { onToolError: 'return' } }),
        ],
        plugins: [human],
      },
    )
    const first = paused((await given.run()).run)
    await approve(given.runtime, first)
    const second = paused((await given.end(given.runtime.resume(first.executionId, ALL))).run)
    const below = (await given.store.executions.list({ rootExecutionId: first.executionId, limit: 10 })).items.find(
      ({ agentCode }) => agentCode === 'below',
    )
    expect([below?.status, below?.toolCallsCount]).toEqual(['completed', 3])
    await approve(given.runtime, second)
    const { error } = await given.end(given.runtime.resume(first.executionId, ALL))
    expect(error?.partial?.toolCalls.map(({ toolCode, status }) => `${toolCode} ${status}`)).toEqual([
      'find ok',
      'look ok',
      'ask ok',
      'write_note error',
    ])
  })
})
