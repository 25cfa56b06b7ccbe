import type { PausedRun, Run, Runtime } from '@sluice/core'
import { defineTool, Pause } from '@sluice/core'
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
