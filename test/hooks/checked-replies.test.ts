import type { RunEvent } from '@sluice/core'
import { Land, Refusal, Veto } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RigOptions } from './support/rig.js'
import { ALL, caught, closingLines, desk, gate, notes, rig, stopLines, watcher } from './support/rig.js'

const PHRASE = 'pay at once'
const bad = reply(`You should ${PHRASE}, I think.`).streamed({ chunkLength: 14 })
const refuses = gate('inspectReply', ({ text }) => {
  if (text?.includes(PHRASE) === true) throw new Refusal('NO_ADVICE', 'Do not tell people to pay.')
})
const vetoes = gate('inspectReply', ({ text }) => {
  if (text?.includes(PHRASE) === true) throw new Veto('NO_ADVICE', 'Nobody is told to pay.')
})

interface Told {
  readonly outcome: string
  readonly events: readonly RunEvent[]
  readonly closings: readonly string[]
  readonly stops: readonly string[]
  readonly record: unknown
}

/** The same run as a whole, and as a stream in each way of showing it. */
async function everyWay(
  script: Parameters<typeof rig>[0],
  options: RigOptions,
): Promise<Record<'whole' | 'checked' | 'live', Told>> {
  const ways = {} as Record<'whole' | 'checked' | 'live', Told>
  for (const way of ['whole', 'checked', 'live'] as const) {
    const seen = watcher()
    const given = await rig(script, { ...options, plugins: [...(options.plugins ?? []), seen.plugin] })
    const events: RunEvent[] = []
    let running
    if (way === 'whole') running = given.runtime.execute({ agent: 'desk' })
    else {
      const stream = given.runtime.stream({ agent: 'desk', show: way })
      for await (const event of stream) events.push(event)
      running = stream.run
    }
    const { run, code } = await caught(running)
    const [row] = (await given.runtime.executions.list({ ...ALL, level: 'top' })).items
    const messages = await given.store.messages.list(row?.sessionId ?? '')
    ways[way] = {
      outcome: code ?? `${run?.status}: ${run?.text}`,
      events,
      closings: closingLines(seen.afterModelCall),
      stops: stopLines(seen.onStop),
      record: [row?.status, row?.usage, messages.map(({ role, content }) => [role, content])],
    }
  }
  return ways
}

const textOf = (events: readonly RunEvent[], type: string) =>
  events
    .filter((event) => event.type === type)
    .map(({ data }) => (data as { text: string }).text)
    .join('')

describe('CASE-07: a check on the answer', () => {
  it.each([
    ['refused, then better', [refuses], [bad, 'Please ask the clerk.'], 'completed: Please ask the clerk.'],
    ['refused twice', [refuses], [bad, bad], 'REFUSED_TWICE'],
    ['vetoed', [vetoes], [bad], 'NO_ADVICE'],
    ['failed', [gate('inspectReply', () => false)], [bad], 'HOOK_FAILED'],
  ] as const)(
    '%s ends alike in execute and in a stream: outcome, closing calls, stops and record',
    async (_what, plugins, script, outcome) => {
      const { whole, checked, live } = await everyWay([...script], { plugins })
      expect(whole.outcome).toBe(outcome)
      for (const streamed of [checked, live]) expect({ ...streamed, events: [] }).toEqual({ ...whole, events: [] })
    },
  )

  it('checked text is shown only after its gates: the phrase is in no event, also when it was cut in the middle of a delta', async () => {
    const { checked } = await everyWay([bad, 'Please ask the clerk.'], { plugins: [refuses] })
    expect(JSON.stringify(checked.events)).not.toContain(PHRASE)
    expect(textOf(checked.events, 'assistant_text')).toBe('Please ask the clerk.')
  })

  it('live text is marked as not checked, and taken back when a check says no', async () => {
    const { live } = await everyWay([bad], { plugins: [vetoes] })
    const deltas = live.events.filter(({ type }) => type === 'assistant_text_delta')
    expect(deltas.length).toBeGreaterThan(2)
    expect(deltas.every(({ data }) => (data as { checked: boolean }).checked === false)).toBe(true)
    const types = live.events.map(({ type }) => type)
    expect(types).toContain('retracted')
    expect(types).not.toContain('assistant_text')
    expect(types.indexOf('retracted')).toBeGreaterThan(types.lastIndexOf('assistant_text_delta'))
  })

  it('text that whileInFlight stopped half-way is taken back too', async () => {
    const given = await rig([reply('A long answer in several pieces.').streamed({ chunkLength: 4, hangAfter: 3 })], {
      plugins: [
        gate('whileInFlight', () => {
          throw new Veto('STOP', 'Enough.')
        }),
      ],
    })
    const stream = given.runtime.stream({ agent: 'desk', show: 'live' })
    const types: string[] = []
    const reading = (async () => {
      for await (const event of stream) types.push(event.type)
    })()
    expect((await given.end(stream.run)).code).toBe('STOP')
    await reading
    expect(types.slice(0, 5)).toEqual([
      'assistant_text_delta',
      'assistant_text_delta',
      'assistant_text_delta',
      'retracted',
      'receipt',
    ])
  })

  it('a structured answer that does not fit its schema is never shown as passed by a check that did not run', async () => {
    const output = z.object({ due: z.boolean() })
    let asked = 0
    const plugins = [gate('inspectReply', () => void asked++)]
    const { whole, checked, live } = await everyWay([reply.json({ due: 'soon' })], {
      agents: [desk([], { output })],
      plugins,
    })
    expect([whole.outcome, checked.outcome, live.outcome, asked]).toEqual([
      'OUTPUT_INVALID',
      'OUTPUT_INVALID',
      'OUTPUT_INVALID',
      0,
    ])
    expect(textOf(checked.events, 'assistant_text')).toBe('')
  })

  it('a gate is given the validated output, and cannot change it', async () => {
    const output = z.object({ due: z.boolean(), notes: z.array(z.string()) })
    let seen: unknown
    const given = await rig([reply.json({ due: true, notes: ['a'] })], {
      agents: [desk([], { output })],
      plugins: [
        gate('inspectReply', (context) => {
          seen = context.output
          Reflect.set(context.output as object, 'due', false)
          Reflect.set((context.output as { notes: object }).notes, 0, 'changed')
        }),
      ],
    })
    const { run } = await given.run()
    expect(seen).toEqual({ due: true, notes: ['a'] })
    expect(run?.output).toEqual({ due: true, notes: ['a'] })
  })

  it('a refused reply is kept in the record, shown to nobody, and none of its tool calls runs', async () => {
    const { tool, calls } = notes()
    const asked: (readonly string[])[] = []
    const given = await rig(
      [reply(`You should ${PHRASE}.`).toolCall('write_note', { text: 'paid' }), 'Please ask the clerk.'],
      {
        agents: [desk([tool])],
        plugins: [
          refuses,
          gate('inspectReply', ({ toolCalls }) => void asked.push(toolCalls), { name: 'first', stage: -1 }),
        ],
      },
    )
    const { run } = await given.run()
    expect([run?.text, calls, asked]).toEqual(['Please ask the clerk.', [], [['write_note'], []]])
    expect(JSON.stringify(run?.messages)).not.toContain(PHRASE)
    const stored = await given.store.messages.list(run?.sessionId ?? '')
    expect(JSON.stringify(stored)).toContain(PHRASE)
    // the model reads why, as a message of the user
    const last = given.provider.requests[1]?.messages.at(-1)
    expect(last).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Do not tell people to pay.' }] })
  })

  it('two refusals that do not stand in a row are no veto', async () => {
    const { tool } = notes()
    const script = [bad, reply.toolCall('write_note'), bad, 'Please ask the clerk.']
    const { run } = await (await rig(script, { agents: [desk([tool])], plugins: [refuses] })).run()
    expect(run?.text).toBe('Please ask the clerk.')
  })

  it('LANDING_REFUSED: a refusal of the last reply of a run that lands is a veto: there is no request left to ask again', async () => {
    const seen = watcher()
    const lands = gate(
      'beforeModelCall',
      ({ landing }) => {
        if (!landing) throw new Land('LAND')
      },
      { name: 'lands' },
    )
    const given = await rig([bad], { plugins: [refuses, lands, seen.plugin] })
    const { error } = await given.run()
    expect(error).toMatchObject({
      code: 'LANDING_REFUSED',
      details: { code: 'NO_ADVICE' },
      by: { plugin: 'gate', point: 'inspectReply' },
    })
    expect(error?.message).toContain('The last reply of a run that is landing was refused')
    expect(stopLines(seen.onStop)).toEqual([
      'inspectReply gate refused NO_ADVICE',
      'inspectReply gate vetoed LANDING_REFUSED',
    ])
    const [row] = (await given.runtime.executions.list({ scope: 'all' })).items
    expect(row).toMatchObject({ status: 'failed', failureKind: 'veto', error: { code: 'LANDING_REFUSED' } })
  })

  it('REFUSED_TWICE: two refusals in a row are two refusals, also where the second one was of a landing', async () => {
    let requests = 0
    const lands = gate(
      'beforeModelCall',
      ({ landing }) => {
        if (++requests > 1 && !landing) throw new Land('LAND')
      },
      { name: 'lands' },
    )
    const { error } = await (await rig([bad, bad], { plugins: [refuses, lands] })).run()
    expect(error).toMatchObject({ code: 'REFUSED_TWICE', details: { code: 'NO_ADVICE' } })
    expect(error?.message).toContain('Two replies in a row were refused')
  })

  it('a second refusal in a row is a veto of the gate that gave it, with its receipt', async () => {
    const seen = watcher()
    const given = await rig([bad, bad], { plugins: [refuses, seen.plugin] })
    const { error } = await given.run()
    expect(error).toMatchObject({
      code: 'REFUSED_TWICE',
      details: { code: 'NO_ADVICE' },
      by: { plugin: 'gate', point: 'inspectReply' },
    })
    expect(stopLines(seen.onStop)).toEqual([
      'inspectReply gate refused NO_ADVICE',
      'inspectReply gate refused NO_ADVICE',
      'inspectReply gate vetoed REFUSED_TWICE',
    ])
    expect(closingLines(seen.afterModelCall)).toEqual(['m1#1 refused yes', 'm2#1 refused yes'])
    expect(error?.partial?.receipts.stop).toMatchObject({ outcome: 'refused', attempt: 1 })
  })
})
