import { orchestratorType } from '@sluice/agents'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { killSwitch } from '@sluice/hooks-policy'
import { fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { ANSWERS } from './scripted-answers.js'
import { showCalls, showReceipts, showTree } from './show-tree.js'
import { calendar, flights, hotels, travel, travelLead } from './travel-planner.js'

const SESSION = 'trip-1'

/** Plans a trip in two turns and prints the tree of each. Gives the exit code: 0, or 1 where a model was not asked what it should be. */
export async function runExample(print: (line: string) => void): Promise<number> {
  const clock = fakeClock({ now: Date.UTC(2026, 3, 20, 10) })
  const models = Object.entries(ANSWERS).map(([id, answers]) => scriptedProvider([...answers], { id }))
  const runtime = await createRuntime({
    clock,
    ids: fakeIds(),
    store: createMemoryStore({ clock }),
    providers: models,
    agentTypes: [orchestratorType()],
    agents: [calendar, flights, hotels, travel],
    prompts: [travelLead],
    plugins: [killSwitch()],
    logger: SILENT,
  })
  const show = async (title: string, run: Awaited<ReturnType<typeof runtime.execute>>): Promise<void> => {
    const request = { scope: 'all', rootExecutionId: run.executionId } as const
    const { items: log } = await runtime.sessions.messages(SESSION, { scope: 'all' })
    print(`=== ${title}\n\n${run.text ?? ''}\n\nruns:`)
    for (const line of showTree((await runtime.executions.list(request)).items)) print(`  ${line}`)
    print('\ndelegations:')
    for (const line of showCalls(log, run.executionId)) print(`  ${line}`)
    print('\nreceipts:')
    for (const line of showReceipts(await runtime.executions.receipts(run.executionId, request))) print(`  ${line}`)
    print(`\ntokens of the tree: ${run.treeUsage.inputTokens ?? '?'} in, ${run.treeUsage.outputTokens ?? '?'} out\n`)
  }
  try {
    const question = 'A weekend in Rome in May, please.'
    const runContext = { traveller: 'petra.k' }
    await show(question, await runtime.execute({ agent: travel, input: { question }, sessionId: SESSION, runContext }))
    const followUp = 'I would rather fly in the morning.'
    await show(followUp, await runtime.execute({ agent: travel, followUp, sessionId: SESSION }))
    const { inputTokens, outputTokens } = await runtime.sessions.get(SESSION, { scope: 'all' })
    print(`the session: ${inputTokens ?? '?'} in, ${outputTokens ?? '?'} out`)
    const left = Object.values(ANSWERS).flat().length - models.reduce((sum, model) => sum + model.requests.length, 0)
    print(left === 0 ? '2 turns, every answer was asked for' : `${left} answers were not asked for`)
    return left === 0 ? 0 : 1
  } finally {
    await runtime.close()
  }
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
