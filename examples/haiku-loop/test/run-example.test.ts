import { createRuntime, createMemoryStore } from '@sluice/core'
import { workflowType } from '@sluice/agents'
import { providerError, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { haikuAgents } from '../src/haiku-loop.js'
import { runExample } from '../src/run-example.js'
import { SECOND_IS_GOOD } from '../src/scripted-answers.js'

async function printed(args: readonly string[] = []) {
  const lines: string[] = []
  const code = await runExample(args, (line) => lines.push(line))
  return { code, text: lines.join('\n') }
}

describe('npm start', () => {
  it('writes until a haiku is good enough, and ends at the limit where none is', async () => {
    const { code, text } = await printed()
    expect(code).toBe(0)
    expect(text).toContain('ended by condition after 2 iterations')
    expect(text).toContain('ended by max_iterations after 4 iterations')
    expect(text).toContain('someone is awake\n\nRegen auf dem Dach')
    expect(text).toContain('2 runs, ended as expected')
  })

  it('prints its tree: agents with their own tokens, and a receipt of every call', async () => {
    const { text } = await printed()
    const [first = ''] = text.split('=== None')
    expect(
      first
        .split('runs:\n')[1]
        ?.split('\n\n')[0]
        ?.split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual([
      '  haiku_loop      workflow  completed  0 in, 0 out, 2 iterations',
      '    poet          profile   completed  92 in, 21 out',
      '    critic        profile   completed  71 in, 24 out',
      '    poet          profile   completed  128 in, 22 out',
      '    critic        profile   completed  74 in, 18 out',
      '    translator    profile   completed  66 in, 25 out',
    ])
    const receipts = first.split('receipts:\n')[1]?.split('\n\n')[0]?.split('\n') ?? []
    expect(receipts.map((line) => line.trim().split(/ +/)[0])).toEqual([
      'i1.s1.haiku/m1',
      'i1.s2.judged/m1',
      'i2.s1.haiku/m1',
      'i2.s2.judged/m1',
      'post1.translated/m1',
      'execution',
    ])
    for (const line of receipts) expect(line).toMatch(/([1-9]\d*) of \1 gates passed$/)
    expect(first).toContain('tokens of the tree: 431 in, 110 out')
  })

  it('prints the same in every run', async () => {
    expect(await printed()).toEqual(await printed())
  })

  it.each([
    [['--live'], 'needs a key'],
    [['--topic', ' '], 'The topic is empty'],
    [['--fast'], 'Unknown option'],
  ])('%j is refused, with what there is', async (args, why) => {
    vi.stubEnv('OPENAI_API_KEY', '')
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    const { code, text } = await printed(args)
    expect(code).toBe(2)
    expect(text).toContain(why)
    expect(text).toContain('Usage: npm start')
  })
})

describe('the loop', () => {
  it('asks the critic once more where the first answer fails, and the poet not', async () => {
    const [first, ...rest] = SECOND_IS_GOOD
    const provider = scriptedProvider([first, providerError(500), ...rest] as never, { id: 'house' })
    const { loop, all } = haikuAgents('house/poems')
    const runtime = await createRuntime({
      store: createMemoryStore(),
      providers: [provider],
      agentTypes: [workflowType()],
      agents: all,
      plugins: [],
    })
    const run = await runtime.execute({ agent: loop, input: { topic: 'rain' } })
    expect([run.details?._loop_exit_reason, provider.requests.length]).toEqual(['condition', 6])
    await runtime.close()
  })
})
