import type { Runtime } from '@sluice/core'
import { defineTool, Veto } from '@sluice/core'
import { on, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, gate, notes, rig, stopLines, watcher } from './support/rig.js'

/** What leads from a run to the next one down. */
interface Way {
  readonly name: string
  /** A tool of the agent above whose call starts the agent below. */
  down(code: string, below: string, runtime: () => Runtime): ReturnType<typeof defineTool>
}

const input = z.object({})
const delegate = (code: string, below: string) =>
  defineTool({ code, description: 'Asks another desk.', effect: 'read', input, agent: below })
const handled = (code: string, handler: () => unknown) =>
  defineTool({ code, description: 'Asks another desk.', effect: 'read', input, handler })

const WAYS: readonly Way[] = [
  { name: 'a tool with an agent behind it', down: (code, below) => delegate(code, below) },
  {
    name: 'an agent run in a handler',
    down: (code, below, runtime) => handled(code, async () => (await runtime().execute({ agent: below })).text),
  },
  {
    name: 'an agent run in a handler that turns failures into text',
    down: (code, below, runtime) =>
      handled(code, async () => {
        try {
          return (await runtime().execute({ agent: below })).text
        } catch (error) {
          return `It did not work: ${String(error)}`
        }
      }),
  },
  {
    name: 'an agent run on a fork without gates',
    down: (code, below, runtime) =>
      handled(code, async () => {
        const fork = await runtime().fork({ plugins: [] })
        return (await fork.execute({ agent: below })).text
      }),
  },
]

/** Two levels: desk -> middle -> bottom, which asks for write_note. */
async function levels(first: Way, second: Way, answer: () => unknown) {
  const { tool, calls } = notes()
  let runtime: Runtime | undefined
  const seen = watcher()
  const asked: (readonly [agent: string | null, createdBy: string | null, depth: number])[] = []
  const given = await rig(
    [
      on(/^Ask on: desk/, reply.toolCall('ask_middle')),
      on(/^Ask on: middle/, reply.toolCall('ask_bottom')),
      on(/^Write/, reply.toolCall('write_note')),
    ],
    {
      agents: [
        desk([first.down('ask_middle', 'middle', () => runtime as Runtime)], { user: 'Ask on: desk' }),
        desk([second.down('ask_bottom', 'bottom', () => runtime as Runtime)], {
          code: 'middle',
          user: 'Ask on: middle',
        }),
        desk([tool], { code: 'bottom', user: 'Write' }),
      ],
      plugins: [
        gate('beforeToolCall', ({ toolCode, agentCode, createdBy, depth }) => {
          if (toolCode !== 'write_note') return
          asked.push([agentCode, createdBy, depth])
          return answer()
        }),
        seen.plugin,
      ],
    },
  )
  runtime = given.runtime
  return { ...given, calls, seen, asked }
}

const deny = () => {
  throw new Veto('DENIED', 'Nobody writes.')
}

describe.each(WAYS)('CASE-04, H-20, H-W3, T-24: two levels down, first $name', (first) => {
  it.each(WAYS)('then $name: the veto ends the top run unchanged and nothing is written', async (second) => {
    const { run, calls, seen, asked } = await levels(first, second, deny)
    const { error } = await run({ caller: { user: 'petra.k', audience: 'authenticated' } })
    expect(error).toMatchObject({ code: 'DENIED', by: { plugin: 'gate', point: 'beforeToolCall' } })
    expect(calls).toEqual([])
    // the innermost agent, and the caller who started the tree
    expect(asked).toEqual([['bottom', 'petra.k', 2]])
    expect(stopLines(seen.onStop)).toEqual(['beforeToolCall gate vetoed DENIED'])
    expect(seen.afterExecution).toMatchObject([
      { status: 'failed', failure: { kind: 'veto', error: { code: 'DENIED' } } },
    ])
  })

  it('a gate that fails there ends the top run too', async () => {
    const { run, calls } = await levels(first, WAYS[2] as Way, () => false)
    expect((await run()).code).toBe('HOOK_FAILED')
    expect(calls).toEqual([])
  })
})

describe('CASE-04: a plain call in a handler', () => {
  it.each([
    ['as it is', async (call: () => Promise<{ text: string | null }>) => (await call()).text],
    [
      'with its failures turned into text',
      async (call: () => Promise<{ text: string | null }>) => call().then((done) => done.text, String),
    ],
  ])('passes the gates of its run, %s', async (_how, use) => {
    const { tool, calls } = notes()
    const seen: (string | null)[] = []
    const given = await rig([reply.toolCall('ask_model'), reply.toolCall('write_note')], {
      agents: [
        desk([
          handled('ask_model', () =>
            use(() => given.runtime.generateText({ model: 'scripted/judge', prompt: 'Write.', tools: [tool] })),
          ),
        ]),
      ],
      plugins: [
        gate('beforeToolCall', ({ toolCode, agentCode }) => {
          if (toolCode !== 'write_note') return
          seen.push(agentCode)
          deny()
        }),
      ],
    })
    expect((await given.run()).code).toBe('DENIED')
    expect([calls, seen]).toEqual([[], ['desk']])
  })

  it('on a fork made inside the run keeps all gates of the run, and gets those of the fork besides', async () => {
    const asked: string[] = []
    const note = (name: string) =>
      gate('beforeModelCall', ({ effectId }) => void asked.push(`${name} ${effectId.split('/').slice(1).join('/')}`), {
        name,
      })
    const ask = handled('ask_model', async () => {
      const fork = await given.runtime.fork({ plugins: [note('added')] })
      return (await fork.generateText({ model: 'scripted/judge', prompt: 'Is it?' })).text
    })
    const given = await rig([reply.toolCall('ask_model'), 'It is.', 'Done.'], {
      agents: [desk([ask])],
      plugins: [note('base')],
    })
    expect((await given.run()).run?.text).toBe('Done.')
    expect(asked).toEqual(['base m1', 'base m1.t1/g1/m1', 'added m1.t1/g1/m1', 'base m2'])
  })
})

it.each(['a run behind a tool', 'a plain call of a handler', 'an agent run of a handler'])(
  'CASE-04: %s below a call on a fork keeps the gates that the fork added',
  async (way) => {
    const { tool, calls } = notes()
    const added = gate('beforeToolCall', ({ toolCode }) => (toolCode === 'write_note' ? deny() : undefined), {
      name: 'added',
    })
    const ways: Readonly<Record<string, ReturnType<typeof defineTool>>> = {
      'a run behind a tool': delegate('go', 'below'),
      'a plain call of a handler': handled(
        'go',
        async () => (await given.runtime.generateText({ model: 'scripted/deep', prompt: 'x', tools: [tool] })).text,
      ),
      'an agent run of a handler': handled('go', async () => (await given.runtime.execute({ agent: 'below' })).text),
    }
    const ask = handled('ask_model', async () => {
      const fork = await given.runtime.fork({ plugins: [added] })
      return (await fork.generateText({ model: 'scripted/judge', prompt: 'Go on.', tools: [ways[way] as never] })).text
    })
    const given = await rig([reply.toolCall('ask_model'), reply.toolCall('go'), reply.toolCall('write_note')], {
      agents: [desk([ask]), desk([tool], { code: 'below' })],
    })
    expect((await given.run()).error).toMatchObject({ code: 'DENIED', by: { plugin: 'added' } })
    expect(calls).toEqual([])
  },
)

it('CASE-04: receipts and tokens count nested calls once, in the tree of the top run', async () => {
  const { tool } = notes()
  const given = await rig(
    [reply.toolCall('ask'), reply.toolCall('ask_model'), 'It is.', reply.toolCall('write_note'), 'Written.', 'Done.'],
    {
      agents: [
        desk([delegate('ask', 'below')]),
        desk(
          [
            tool,
            handled(
              'ask_model',
              async () => (await given.runtime.generateText({ model: 'scripted/judge', prompt: 'Is it?' })).text,
            ),
          ],
          { code: 'below' },
        ),
      ],
      plugins: [gate('beforeModelCall', () => undefined)],
    },
  )
  const { run } = await given.run()
  // desk 2, below 3, the judge 1; each costs 10 in and 5 out
  expect(run?.treeUsage).toMatchObject({ inputTokens: 60, outputTokens: 30 })
  expect(run?.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 })
  const stored = await given.receipts(run?.executionId ?? '')
  const names = stored.map(({ effectId }) => effectId.split('/').slice(1).join('/'))
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => name.endsWith('m1') || name.endsWith('m2') || name.endsWith('m3'))).toHaveLength(6)
  expect(run?.receipts).toMatchObject({ effects: names.length, asked: 6, passed: 6, stopped: 0 })
})
