import { AGENTS_ERROR_CODES, defineOrchestrator, orchestratorType } from '@sluice/agents'
import { createMemoryStore, createRuntime, definePlugin, Veto } from '@sluice/core'
import { scriptedProvider } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { runExample } from '../src/run-example.js'
import { ANSWERS } from '../src/scripted-answers.js'
import { calendar, flights, hotels, travel, travelLead } from '../src/travel-planner.js'

async function printed() {
  const lines: string[] = []
  const code = await runExample((line) => lines.push(line))
  return { code, text: lines.join('\n') }
}

/** The lines of one part of a turn, without the spaces at their ends. */
const part = (text: string, title: string) =>
  (text.split(`${title}:\n`)[1]?.split('\n\n')[0] ?? '').split('\n').map((line) => line.trim())

describe('npm start', () => {
  it('plans a trip in two turns; the second asks only whom it needs', async () => {
    const { code, text } = await printed()
    const [, first = '', second = ''] = text.split('=== ')
    expect([code, first.includes('SL 288 at 18:40'), second.includes('SL 204 at 09:10')]).toEqual([0, true, true])
    expect(part(first, 'runs')).toEqual([
      'travel        orchestrator  completed  843 in, 97 out, 3 calls',
      'calendar    profile       completed  152 in, 22 out, 1 calls',
      'flights     profile       completed  215 in, 36 out, 1 calls',
      'hotels      profile       completed  167 in, 32 out, 1 calls',
    ])
    expect(part(second, 'runs').map((line) => line.split(' ')[0])).toEqual(['travel', 'flights'])
    expect(part(second, 'delegations')).toEqual([
      'travel > flights {"city":"Rome","day":"2026-05-15","wish":"In the morning."}',
    ])
  })

  it('prints a receipt of every call with the agent that made it; the tokens of the session are those of its runs', async () => {
    const { text } = await printed()
    const [, first = ''] = text.split('=== ')
    const receipts = part(first, 'receipts')
    expect(receipts).toHaveLength(16)
    for (const line of receipts) expect(line).toMatch(/([1-9]\d*) of \1 gates passed$/)
    expect(receipts.filter((line) => line.includes('tool_call') && line.includes('travel'))).toHaveLength(3)
    const tokens = Object.values(ANSWERS).flat().length
    expect([tokens, text.includes('the session: 2472 in, 260 out')]).toEqual([13, true])
  })

  it('prints the same in every run', async () => {
    expect(await printed()).toEqual(await printed())
  })
})

describe('the planner', () => {
  const open = (
    plugins: Parameters<typeof createRuntime>[0]['plugins'] = [],
    agents = [calendar, flights, hotels, travel],
  ) => {
    const models = Object.fromEntries(
      Object.entries(ANSWERS).map(([id, list]) => [id, scriptedProvider([...list], { id })]),
    )
    return createRuntime({
      store: createMemoryStore(),
      providers: Object.values(models),
      agentTypes: [orchestratorType()],
      agents: agents as never,
      prompts: [travelLead],
      plugins,
    }).then((runtime) => ({ runtime, models }))
  }
  const request = { agent: 'travel', input: { question: 'Rome?' } } as const

  it('needs to be told whose calendar it reads: no model chooses that', async () => {
    const { runtime, models } = await open()
    // the delegate does not start, and the lead is told so by reference
    await runtime.execute(request).catch(() => undefined)
    expect(models.calendar?.requests).toHaveLength(0)
    expect(JSON.stringify(models.lead?.requests[1]?.messages.at(-1))).toMatch(/ERR-\d{17}/)
    await runtime.close()
  })

  it('ends where a gate refuses what a delegate wants to do', async () => {
    const noFlights = definePlugin({
      name: 'no-flights',
      hookApi: 1,
      apply: (hooks) =>
        hooks.beforeToolCall.tap({ name: 'no-flights' }, ({ toolCode }) => {
          if (toolCode === 'find_flights') throw new Veto('GROUNDED', 'Nobody flies.')
        }),
    })
    const { runtime, models } = await open([noFlights()])
    const run = runtime.execute({ ...request, runContext: { traveller: 'petra.k' } })
    await expect(run).rejects.toMatchObject({ code: 'GROUNDED' })
    expect([models.lead?.requests.length, models.hotels?.requests.length]).toEqual([2, 0])
    await runtime.close()
  })

  it('names a delegate that is not there', async () => {
    const { runtime } = await open()
    await runtime.agents.changeStatus({ code: 'hotels', version: 1 }, 'archived')
    await expect(runtime.execute(request)).rejects.toMatchObject({ code: 'DELEGATE_NOT_FOUND' })
    expect(AGENTS_ERROR_CODES.DELEGATE_NOT_FOUND.meaning).toContain('delegates')
    await runtime.close()
    const nobody = defineOrchestrator({
      code: 'travel',
      description: 'X.',
      profile: 'travel_lead',
      delegates: ['nobody'],
    })
    await expect(open([], [calendar, nobody] as never)).rejects.toMatchObject({ reason: 'references.missing' })
  })
})
