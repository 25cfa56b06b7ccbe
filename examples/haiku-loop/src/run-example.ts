import { parseArgs } from 'node:util'
import { workflowType } from '@sluice/agents'
import type { ModelProvider } from '@sluice/core'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { killSwitch } from '@sluice/hooks-policy'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'
import { fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { haikuAgents } from './haiku-loop.js'
import { NONE_IS_GOOD, SECOND_IS_GOOD } from './scripted-answers.js'
import { showReceipts, showTree } from './show-tree.js'

const USAGE = `Usage: npm start -- [--live] [--topic <topic>]

  --live     asks OpenAI or Anthropic, whichever key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY); this costs money.
             OPENAI_MODEL and ANTHROPIC_MODEL name another model.
  --topic    what the haiku is about (default: rain at night)

Without --live the answers come from a script: no key, no network.`

const LIVE = [
  { key: 'OPENAI_API_KEY', id: 'openai', variable: 'OPENAI_MODEL', model: 'gpt-5.6', create: () => openai() },
  {
    key: 'ANTHROPIC_API_KEY',
    id: 'anthropic',
    variable: 'ANTHROPIC_MODEL',
    model: 'claude-sonnet-4-5',
    create: () => anthropic(),
  },
] as const

/** One run of the loop: its title, and what answers it. */
interface Scene {
  readonly title: string
  readonly topic: string
  readonly model: string
  readonly provider: ModelProvider
  /** How the loop should end; in live runs nobody knows. */
  readonly expected?: string
}

/** Runs the loop and prints its tree. Gives the exit code: 0; 1 where a run ended otherwise than it should; 2 for wrong arguments. */
export async function runExample(args: readonly string[], print: (line: string) => void): Promise<number> {
  let scenes: readonly Scene[]
  try {
    scenes = scenesOf(args)
  } catch (error) {
    print(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  let unexpected = 0
  for (const scene of scenes) {
    const ended = await play(scene, print)
    if (scene.expected !== undefined && scene.expected !== ended) unexpected += 1
  }
  print(
    `${scenes.length === 1 ? '1 run' : `${scenes.length} runs`}, ${unexpected === 0 ? 'ended as expected' : `${unexpected} ended otherwise than expected`}`,
  )
  return unexpected === 0 ? 0 : 1
}

function scenesOf(args: readonly string[]): readonly Scene[] {
  const { values } = parseArgs({
    args: [...args],
    options: { live: { type: 'boolean', default: false }, topic: { type: 'string', default: 'rain at night' } },
  })
  const { topic, live } = values
  if (topic.trim() === '') throw new Error('The topic is empty.')
  if (live) {
    const choice = LIVE.find(({ key }) => (process.env[key] ?? '') !== '')
    if (choice === undefined) throw new Error(`--live needs a key: set ${LIVE.map(({ key }) => key).join(' or ')}.`)
    const model = process.env[choice.variable] || choice.model
    return [{ title: 'A haiku, live', topic, model: `${choice.id}/${model}`, provider: choice.create() }]
  }
  const scripted = (answers: Parameters<typeof scriptedProvider>[0]) => scriptedProvider(answers, { id: 'house' })
  return [
    {
      title: 'The second haiku is good enough',
      topic,
      model: 'house/poems',
      provider: scripted(SECOND_IS_GOOD),
      expected: 'condition',
    },
    {
      title: 'None is good enough',
      topic,
      model: 'house/poems',
      provider: scripted(NONE_IS_GOOD),
      expected: 'max_iterations',
    },
  ]
}

/** Gives the reason for which the loop ended. */
async function play(
  { title, topic, model, provider, expected }: Scene,
  print: (line: string) => void,
): Promise<string> {
  const { loop, all } = haikuAgents(model)
  // a scripted run looks the same every time
  const still = expected === undefined ? {} : { clock: fakeClock({ now: Date.UTC(2026, 0, 5, 10) }), ids: fakeIds() }
  const runtime = await createRuntime({
    ...still,
    store: createMemoryStore(still.clock === undefined ? {} : { clock: still.clock }),
    providers: [provider],
    agentTypes: [workflowType()],
    agents: all,
    plugins: [killSwitch()],
    logger: SILENT,
  })
  try {
    const run = await runtime.execute({ agent: loop, input: { topic } })
    const request = { scope: 'all', rootExecutionId: run.executionId } as const
    const reason = String(run.details?._loop_exit_reason)
    print(`=== ${title}`)
    print(`\n${run.text?.trim() ?? ''}\n`)
    print(`ended by ${reason} after ${String(run.details?._loop_iterations)} iterations`)
    print('\nruns:')
    for (const line of showTree((await runtime.executions.list(request)).items)) print(`  ${line}`)
    print('\nreceipts:')
    for (const line of showReceipts(await runtime.executions.receipts(run.executionId, request))) print(`  ${line}`)
    const { inputTokens, outputTokens } = run.treeUsage
    print(`\ntokens of the tree: ${inputTokens ?? '?'} in, ${outputTokens ?? '?'} out\n`)
    return reason
  } finally {
    await runtime.close()
  }
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
