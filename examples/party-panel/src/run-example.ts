import { parseArgs } from 'node:util'
import { conversationType } from '@sluice/agents'
import type { JsonObject, ModelProvider } from '@sluice/core'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { killSwitch } from '@sluice/hooks-policy'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'
import { fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { partyAgents } from './party-panel.js'
import { PANEL, ROTATION } from './scripted-answers.js'
import { showReceipts, showTree } from './show-tree.js'

const USAGE = `Usage: npm start -- [--live] [--occasion <occasion>]

  --live     asks OpenAI or Anthropic, whichever key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY); this costs money.
             OPENAI_MODEL and ANTHROPIC_MODEL name another model.
  --occasion what the party is for (default: a birthday in June)

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

/** One conversation: its title, and what answers it. */
interface Scene {
  readonly title: string
  readonly conversation: 'rotation' | 'panel'
  readonly occasion: string
  readonly model: string
  readonly provider: ModelProvider
  /** How it should end; in live runs nobody knows. */
  readonly expected?: string
}

/** Has the party planned twice and prints the trees. Gives the exit code: 0; 1 where a run ended otherwise than it should; 2 for wrong arguments. */
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
    options: {
      live: { type: 'boolean', default: false },
      occasion: { type: 'string', default: 'a birthday in June' },
    },
  })
  const { occasion, live } = values
  if (occasion.trim() === '') throw new Error('The occasion is empty.')
  const rotation = { title: 'In rotation', conversation: 'rotation', occasion } as const
  const panel = { title: 'With a moderator', conversation: 'panel', occasion } as const
  if (live) {
    const choice = LIVE.find(({ key }) => (process.env[key] ?? '') !== '')
    if (choice === undefined) throw new Error(`--live needs a key: set ${LIVE.map(({ key }) => key).join(' or ')}.`)
    const model = `${choice.id}/${process.env[choice.variable] || choice.model}`
    return [rotation, panel].map((scene) => ({ ...scene, model, provider: choice.create() }))
  }
  const scripted = (answers: Parameters<typeof scriptedProvider>[0]) => scriptedProvider(answers, { id: 'house' })
  const model = 'house/talks'
  return [
    { ...rotation, model, provider: scripted(ROTATION), expected: 'keyword' },
    { ...panel, model, provider: scripted(PANEL), expected: 'moderator' },
  ]
}

/** Gives the reason for which the conversation ended. */
async function play(
  { title, conversation, occasion, model, provider, expected }: Scene,
  print: (line: string) => void,
): Promise<string> {
  const { all, ...conversations } = partyAgents(model)
  // a scripted run looks the same every time
  const still = expected === undefined ? {} : { clock: fakeClock({ now: Date.UTC(2026, 0, 5, 10) }), ids: fakeIds() }
  const runtime = await createRuntime({
    ...still,
    store: createMemoryStore(still.clock === undefined ? {} : { clock: still.clock }),
    providers: [provider],
    agentTypes: [conversationType()],
    agents: all,
    plugins: [killSwitch()],
    logger: SILENT,
  })
  try {
    const run = await runtime.execute({ agent: conversations[conversation], input: { occasion } })
    const request = { scope: 'all', rootExecutionId: run.executionId } as const
    const reason = String(run.details?.end_reason)
    print(`=== ${title}`)
    for (const { turn, agent, message } of run.details?.conversation as readonly JsonObject[])
      print(
        `  ${String(turn)} ${String(agent)}: ${typeof message === 'string' ? message.trim() : JSON.stringify(message)}`,
      )
    print(`\n${run.text?.trim() ?? ''}\n`)
    print(`ended by ${reason} after ${String(run.details?.turns)} turns`)
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
