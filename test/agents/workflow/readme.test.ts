import { readFileSync } from 'node:fs'
import { AGENTS_ERROR_CODES, createSequentialWorkflow, defineWorkflow, workflowType } from '@sluice/agents'
import { createMemoryStore, createRuntime, defineAgent } from '@sluice/core'
import { reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ALL } from './support/workflow-house.js'

const README = readFileSync(new URL('../../../packages/agents/README.md', import.meta.url), 'utf8')
const SECTION = README.split(/^## /m).find((part) => part.startsWith('Workflows')) ?? ''

const writer = defineAgent({
  code: 'writer',
  description: 'Writes.',
  model: 'scripted/small',
  user: '{question} {advice}',
  input: z.object({ question: z.string(), advice: z.string().default('') }),
})
const judge = defineAgent({
  code: 'judge',
  description: 'Judges.',
  model: 'scripted/small',
  user: '{draft}',
  output: z.strictObject({ score: z.number(), advice: z.string() }),
})
const refine = defineWorkflow({
  code: 'refine',
  description: 'Writes an answer and has it judged until it is good.',
  workflowType: 'loop',
  input: z.object({ question: z.string() }),
  steps: [
    {
      agent: 'writer',
      outputKey: 'draft',
      inputMapping: {
        question: '{$.input.question}',
        advice: { path: '{$.steps.judged.advice}', optional: true },
      },
    },
    { agent: 'judge', outputKey: 'judged', inputMapping: { draft: '{$.steps.draft}' } },
  ],
  loopConfig: { maxIterations: 5, exitCondition: '{$.steps.judged.score} >= 8' },
  finalMessage: '{$.steps.draft}',
})

async function play() {
  const store = createMemoryStore()
  const providers = [
    scriptedProvider([
      reply('Because.'),
      reply.json({ score: 2, advice: 'Say why.' }),
      reply('Because of scattering.'),
      reply.json({ score: 9, advice: 'Nothing.' }),
      reply('One.'),
      reply.json({ score: 1, advice: 'x' }),
    ]),
  ]
  const runtime = await createRuntime({
    store,
    providers,
    agentTypes: [workflowType()],
    agents: [writer, judge, refine],
    plugins: [],
  })
  const run = await runtime.execute({ agent: refine, input: { question: 'Why is the sky blue?' } })
  console.log(run.text, run.details?._loop_iterations, run.details?._loop_exit_reason)
  await createSequentialWorkflow(runtime.agents, {
    code: 'write_and_judge',
    description: 'Writes, then judges.',
    agentCodes: ['writer', { agentCode: 'judge', inputMapping: { draft: '{$.steps.step_1}' } }],
    status: 'active',
  })
  return { runtime, run }
}

describe('the README on workflows', () => {
  it('its examples are this file', () => {
    const code = (text: string) => text.replaceAll(/\s|[,;()]/g, '')
    const here = code(readFileSync(new URL(import.meta.url), 'utf8'))
    const blocks = [...SECTION.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((block) => block[1] as string)
    expect(blocks).toHaveLength(3)
    for (const block of blocks) expect(here).toContain(code(block))
  })

  it('what it shows works, and its table of the message log is that of the run', async () => {
    const printed = vi.spyOn(console, 'log').mockReturnValue()
    const { runtime, run } = await play()
    expect(printed.mock.calls).toEqual([['Because of scattering.', 2, 'condition']])
    const { items } = await runtime.sessions.messages(run.sessionId, ALL)
    const table = [
      '| seq | role | content | agent |',
      '| --- | --- | --- | --- |',
      ...items.map((row) => `| ${row.seq} | ${row.role} | ${row.content} | ${row.agentCode ?? ''} |`),
    ].join('\n')
    expect(SECTION).toContain(`<!-- log -->\n${table}\n<!-- /log -->`)
    const stored = await runtime.execute({ agent: 'write_and_judge', input: { question: 'Why?' } })
    expect(stored.output).toEqual({ score: 1, advice: 'x' })
    await runtime.close()
  })

  it('its example of a refused condition is what is said', () => {
    const wrong = () =>
      defineWorkflow({
        code: 'a',
        description: 'b',
        workflowType: 'loop',
        steps: [
          { agent: 'judge', outputKey: 'score' },
          { agent: 'judge', outputKey: 'kind' },
        ],
        loopConfig: { exitCondition: "{$.steps.score} = 8 and {$.steps.kind} <> 'draft'" },
      })
    const shown = /^```\n(loop_config[\s\S]*?)^```$/m.exec(SECTION)?.[1] ?? ''
    expect(shown.trim().split('\n')).toHaveLength(2)
    for (const line of shown.trim().split('\n')) expect(wrong).toThrow(line)
  })

  it('names every code of workflows', () => {
    for (const code of Object.keys(AGENTS_ERROR_CODES))
      if (code.startsWith('WORKFLOW_')) expect(SECTION).toContain(`\`${code}\``)
  })
})
