import type { Engine, PausedRun, Run, StoredEntry } from '@sluice/core'
import { inlineEngine, Pause } from '@sluice/core'
import { fakeClock, fakeIds, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { ALL, closingLines, desk, gate, notes, rig, stopLines, watcher } from './support/rig.js'

const by = { by: 'boss', ...ALL }
const pathOf = (effectId: string) => effectId.split('/').slice(1).join('/')

const paused = (run: Run | undefined): PausedRun => {
  if (run?.status !== 'paused') throw new Error(`the run is ${run?.status}, not paused`)
  return run
}

/** Takes the result of a branch out of a journal; its begin stays. */
const lose = (name: string, entries: readonly StoredEntry[]): StoredEntry[] =>
  entries.map((entry) =>
    entry.kind === 'branch' && entry.name === name
      ? { ...entry, entries: (entry.entries ?? []).filter(({ kind }) => kind === 'begin') }
      : entry,
  )

/**
 * An engine whose worker died while a tool was running: the journal that it stores first holds the begin of `m1.t1` and not its
 * result. Nothing else differs from the inline one.
 */
function losing(clock = fakeClock()): { engine: Engine; clock: ReturnType<typeof fakeClock> } {
  const inline = inlineEngine({ clock, ids: fakeIds(7) })
  let lost = false
  const engine: Engine = {
    ...inline,
    id: 'losing',
    snapshot: (executionId) => {
      const journal = inline.snapshot(executionId)
      if (lost) return journal
      lost = true
      return { ...journal, entries: lose('m1.t1', journal.entries) }
    },
  }
  return { engine, clock }
}

/** A run in which one note was written when its worker died, and a second one waits for a human. */
async function lostBegin(repeat: 'safe' | 'by-key' | 'never') {
  const keys: string[] = []
  const { tool, calls } = notes({
    repeat,
    handler: (_args, { idempotencyKey }) => (keys.push(pathOf(idempotencyKey)), 'written'),
  })
  const seen = watcher()
  const events: string[] = []
  // the second note is asked about again because the first one wrote, and waits for a human then
  let asked = 0
  const human = gate(
    'inspectToolInput',
    ({ args, decision }) => {
      if (args.text === 'second' && decision === undefined && ++asked > 1) throw new Pause('APPROVE')
    },
    { name: 'human' },
  )
  const { engine, clock } = losing()
  const given = await rig(
    [reply.toolCall('write_note', { text: 'first' }).toolCall('write_note', { text: 'second' }), 'Done.'],
    { clock, engine, agents: [desk([tool])], plugins: [human, seen.plugin] },
  )
  const first = paused((await given.run()).run)
  expect(first.pending.map(({ effectId }) => pathOf(effectId))).toEqual(['m1.t2'])
  await given.runtime.decide(first.executionId, {
    effectId: first.pending[0]?.effectId as string,
    decision: 'approve',
    ...by,
  })
  given.runtime.events.set(({ type, data }) => void events.push(`${type} ${String((data as any).toolCallId ?? '')}`))
  seen.afterToolCall.length = 0
  const resume = async () => (await given.end(given.runtime.resume(first.executionId, ALL))).run
  const decide = (decision: 'approve' | 'deny', note?: string) =>
    given.runtime.decide(first.executionId, {
      effectId: `${first.executionId}/m1.t1`,
      decision,
      ...(note === undefined ? {} : { note }),
      ...by,
    })
  return { ...given, calls, keys, seen, events, resume, decide, executionId: first.executionId }
}

const results = (run: Run | undefined) =>
  run?.messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ status, result }) => `${status} ${result}`) : [],
  )

describe('EFFECT_UNKNOWN: a tool call that began, and whose result was lost', () => {
  it('waits for a human where the tool never may be repeated', async () => {
    const { calls, resume, decide, seen } = await lostBegin('never')
    seen.onStop.length = 0
    const again = paused(await resume())
    expect(again.pending).toMatchObject([
      { toolCode: 'write_note', plugin: 'sluice', code: 'EFFECT_UNKNOWN', expiresAt: null },
    ])
    expect(pathOf(again.pending[0]?.effectId as string)).toBe('m1.t1')
    expect([calls, stopLines(seen.onStop)]).toEqual([['first'], ['handler sluice paused EFFECT_UNKNOWN']])
    // and goes on waiting while nobody has answered
    expect(paused(await resume()).pending.map(({ code }) => code)).toEqual(['EFFECT_UNKNOWN'])
    await decide('deny')
    await resume()
  })

  it('denied: it does not run again, the model reads the note as its result, and the rest of the round goes on', async () => {
    const { calls, resume, decide, seen, events, provider } = await lostBegin('never')
    await resume()
    await decide('deny', 'It was written by hand.')
    const run = await resume()
    expect([run?.status, run?.text, calls]).toEqual(['completed', 'Done.', ['first', 'second']])
    expect(results(run)).toEqual(['unknown It was written by hand.', 'ok written'])
    expect(run?.toolCalls.map(({ status }) => status)).toEqual(['unknown', 'ok'])
    expect(JSON.stringify(provider.calls.at(-1))).toContain('It was written by hand.')
    expect(closingLines(seen.afterToolCall).filter((line) => line.startsWith('m1.t1'))).toEqual([
      'm1.t1#1 unknown unknown',
    ])
    // its event was sent when it began, so its result is told too; and its receipt keeps what its gates said
    expect(events.filter((line) => line.startsWith('tool_'))).toHaveLength(3)
    expect(seen.afterToolCall.find(({ effectId }) => pathOf(effectId) === 'm1.t1')?.receipt.askings).toMatchObject([
      { gates: [{ plugin: 'human', answer: 'passed' }] },
    ])
  })

  it('denied without a note: the model reads that nobody knows whether it took effect', async () => {
    const { resume, decide } = await lostBegin('never')
    await resume()
    await decide('deny')
    expect(results(await resume())?.[0]).toBe('unknown This call was interrupted; whether it took effect is not known.')
  })

  it('approved: it runs once more, under the same key', async () => {
    const { calls, keys, resume, decide } = await lostBegin('never')
    await resume()
    await decide('approve')
    const run = await resume()
    expect([run?.status, calls]).toEqual(['completed', ['first', 'first', 'second']])
    expect(keys).toEqual(['m1.t1', 'm1.t1', 'm1.t2'])
  })

  it.each(['safe', 'by-key'] as const)('runs again at once where its `repeat` is %s', async (repeat) => {
    const { calls, keys, resume } = await lostBegin(repeat)
    const run = await resume()
    expect([run?.status, calls]).toEqual(['completed', ['first', 'first', 'second']])
    expect(keys).toEqual(['m1.t1', 'm1.t1', 'm1.t2'])
  })
})
