import { handoffType } from '@sluice/agents'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { killSwitch } from '@sluice/hooks-policy'
import { fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { ANSWERS, TURNS } from './scripted-answers.js'
import { showCalls, showReceipts, showTree } from './show-tree.js'
import { billing, support, technical, triage } from './support-handoff.js'

const SESSION = 'case-1'

/** A conversation of three turns; prints the tree of each. Gives the exit code: 0, or 1 where somebody else answered than should. */
export async function runExample(print: (line: string) => void): Promise<number> {
  const clock = fakeClock({ now: Date.UTC(2026, 5, 2, 10) })
  const runtime = await createRuntime({
    clock,
    ids: fakeIds(),
    store: createMemoryStore({ clock }),
    providers: Object.entries(ANSWERS).map(([id, answers]) => scriptedProvider([...answers], { id })),
    agentTypes: [handoffType()],
    agents: [triage, billing, technical, support],
    plugins: [killSwitch()],
    logger: SILENT,
  })
  let unexpected = 0
  try {
    for (const [index, { text, answeredBy }] of TURNS.entries()) {
      const run = await runtime.execute(
        index === 0
          ? { agent: support, input: { prompt: text }, sessionId: SESSION, runContext: { customer: 'C-17' } }
          : { agent: support, followUp: text, sessionId: SESSION },
      )
      if (run.details?.final_agent_code !== answeredBy) unexpected += 1
      const request = { scope: 'all', rootExecutionId: run.executionId } as const
      const { items: log } = await runtime.sessions.messages(SESSION, { scope: 'all' })
      print(`=== ${text}\n\n${String(run.details?.final_agent_code)}: ${run.text ?? ''}\n\nruns:`)
      for (const line of showTree((await runtime.executions.list(request)).items)) print(`  ${line}`)
      print('\ntools:')
      for (const line of showCalls(log, run.executionId)) print(`  ${line}`)
      print('\nreceipts:')
      for (const line of showReceipts(await runtime.executions.receipts(run.executionId, request))) print(`  ${line}`)
      print(`\ntokens of the tree: ${run.treeUsage.inputTokens ?? '?'} in, ${run.treeUsage.outputTokens ?? '?'} out\n`)
    }
    const { inputTokens, outputTokens, turnCount } = await runtime.sessions.get(SESSION, { scope: 'all' })
    print(`the session: ${inputTokens ?? '?'} in, ${outputTokens ?? '?'} out`)
    print(
      `${turnCount} turns, ${unexpected === 0 ? 'answered as expected' : `${unexpected} answered by somebody else`}`,
    )
    return unexpected === 0 ? 0 : 1
  } finally {
    await runtime.close()
  }
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
