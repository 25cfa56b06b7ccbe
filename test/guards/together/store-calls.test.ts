import { createMemoryStore, definePlugin } from '@sluice/core'
import { fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { DeskOptions } from './guarded-desk.js'
import { guardedDesk, guards, PETRA, SPACE } from './guarded-desk.js'
import { ofGuard, tally, watchedStore } from './watched-store.js'

const MARKS = Number.MIN_SAFE_INTEGER

/** A desk whose timeline holds each call of the store, between marks of where the run was. */
async function timedDesk(texts: readonly (string | null)[], options: DeskOptions = {}) {
  const clock = fakeClock()
  const line: string[] = []
  const store = watchedStore(createMemoryStore({ clock }), (call) => void line.push(call))
  const marks = definePlugin({
    name: 'marks',
    hookApi: 1,
    apply(hooks) {
      hooks.beforeModelCall.tap({ name: 'mark', stage: MARKS }, () => void line.push('== model call'))
      hooks.beforeToolCall.tap({ name: 'mark', stage: MARKS }, () => void line.push('== tool call'))
    },
  })()
  const script = texts.map((text) => () => {
    line.push('== request')
    return text === null ? reply('Done.') : reply.toolCall('write_note', { text })
  })
  const desk = await guardedDesk(script, { ...options, clock, store, plugins: [marks, options.plugins ?? guards()] })
  line.length = 0
  return { ...desk, line, segments: () => segments(line) }
}

/** What the guards called between two marks, with the mark before it. */
function segments(line: readonly string[]): readonly { readonly mark: string; readonly calls: readonly string[] }[] {
  const parts: { mark: string; calls: string[] }[] = [{ mark: '== start', calls: [] }]
  for (const entry of line) {
    if (entry.startsWith('== ')) parts.push({ mark: entry, calls: [] })
    else if (ofGuard(entry)) parts.at(-1)?.calls.push(entry)
  }
  return parts
}

const STANDS_BEFORE = [
  `${SPACE.audit} log.append`,
  `${SPACE.budget} documents.transact`,
  `${SPACE.killSwitch} documents.getMany`,
  `${SPACE.rates} documents.transact`,
]
const STANDS_BEHIND = STANDS_BEFORE.filter((call) => !call.startsWith(SPACE.killSwitch))

describe('all guards together: what a model call costs in the store', () => {
  it('one read and three transactions stand before the request, and three transactions behind it', async () => {
    const desk = await timedDesk([null])
    await desk.clock.settle(desk.runtime.generateText({ model: 'scripted/any', prompt: 'Hello.', caller: PETRA }))
    const [start, before, behind, ...rest] = desk.segments()
    expect([start?.calls, before?.mark, behind?.mark, rest]).toEqual([[], '== model call', '== request', []])
    expect(before?.calls.toSorted()).toEqual(STANDS_BEFORE)
    expect(tally(before?.calls ?? [])).toEqual({ transactions: 3, reads: 1, others: 0 })
    expect(behind?.calls.toSorted()).toEqual(STANDS_BEHIND)
    expect(tally(behind?.calls ?? [])).toEqual({ transactions: 3, reads: 0, others: 0 })
  })

  it('the switch is read first, and the intent is the last thing that is written before the request', async () => {
    const desk = await timedDesk([null])
    await desk.clock.settle(desk.runtime.generateText({ model: 'scripted/any', prompt: 'Hello.', caller: PETRA }))
    const calls = desk.segments()[1]?.calls ?? []
    expect([calls[0], calls.at(-1)]).toEqual([`${SPACE.killSwitch} documents.getMany`, `${SPACE.audit} log.append`])
  })

  it('core itself asks nothing more of the store than without any guard', async () => {
    const core: string[][] = []
    for (const plugins of [[], guards()]) {
      const desk = await timedDesk([null], { plugins })
      await desk.clock.settle(desk.runtime.generateText({ model: 'scripted/any', prompt: 'Hello.', caller: PETRA }))
      core.push(desk.line.filter((call) => !ofGuard(call)))
    }
    expect(core[1]).toEqual(core[0])
  })

  it('it is the same for each of many calls of a run', async () => {
    const desk = await timedDesk(['a', 'b', 'c', null])
    expect((await desk.run()).run?.status).toBe('completed')
    const parts = desk.segments()
    const before = parts.filter(({ mark }) => mark === '== model call')
    expect(before.map(({ calls }) => tally(calls))).toEqual(
      before.map(() => ({ transactions: 3, reads: 1, others: 0 })),
    )
    const behind = parts.filter(({ mark }, place) => mark === '== request' && parts[place + 1]?.mark === '== tool call')
    expect([before.length, behind.length]).toEqual([4, 3])
    expect(behind.map(({ calls }) => tally(calls))).toEqual(
      behind.map(() => ({ transactions: 3, reads: 0, others: 0 })),
    )
  })

  it('over an hour of calls each costs one read and six transactions, in every minute: what is over is cleared away between them', async () => {
    const desk = await timedDesk(Array.from({ length: 121 }, () => null))
    for (let call = 0; call < 121; call++) {
      // every user comes once, so that each leaves documents behind
      const caller = { ...PETRA, user: `user ${call}` }
      await desk.clock.settle(desk.runtime.generateText({ model: 'scripted/any', prompt: 'Hello.', caller }))
      desk.line.push('== between')
      await desk.clock.tick(30_000)
    }
    const tallies = (mark: string) => desk.segments().flatMap((part) => (part.mark === mark ? [tally(part.calls)] : []))
    const each = (reads: number) => Array.from({ length: 121 }, () => ({ transactions: 3, reads, others: 0 }))
    expect(tallies('== model call')).toEqual(each(1))
    expect(tallies('== request')).toEqual(each(0))
    const sweeps = desk.segments().flatMap(({ mark, calls }) => (mark === '== between' ? calls : []))
    expect(sweeps.filter((call) => call === `${SPACE.rates} documents.list`).length).toBeGreaterThanOrEqual(60)
    const left = await desk.store.documents(SPACE.rates).list(['limit', 'modelCalls:user:minute'], { limit: 1_000 })
    expect(left.items.length).toBeLessThan(6)
  })

  it('what is cleared away while requests are open holds up none of them, though it never ends', async () => {
    let hung = 0
    const clock = fakeClock()
    const base = createMemoryStore({ clock })
    const documents = base.documents.bind(base)
    // clearing away never ends: nobody waits for it
    const store: typeof base = {
      ...base,
      documents: (space) => {
        const own = documents(space)
        if (space !== SPACE.rates) return own
        return { ...own, list: () => new Promise(() => void hung++), transact: own.transact.bind(own) }
      },
    }
    const desk = await guardedDesk(
      Array.from({ length: 8 }, (_, call) => async () => {
        clock.advance(61_000)
        return call === 7 ? reply('Done.') : reply.toolCall('write_note', { text: `note ${call}` })
      }),
      { clock, store },
    )
    const { run } = await desk.run()
    expect([run?.status, desk.happened.length]).toEqual(['completed', 7])
    expect(hung).toBeGreaterThan(5)
  })

  it('a call that a guard stops costs no more either', async () => {
    const desk = await timedDesk([], { plugins: guards({ budget: { limits: [{ scope: 'run', usd: '0.001' }] } }) })
    expect((await desk.run()).code).toBe('BUDGET_EXHAUSTED')
    const asked = desk.segments().find(({ mark }) => mark === '== model call')
    const { reads, transactions } = tally((asked?.calls ?? []).slice(0, 3))
    expect([reads, transactions]).toEqual([1, 2])
  })
})
