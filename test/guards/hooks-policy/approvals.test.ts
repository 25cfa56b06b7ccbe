import type { JsonObject, PausedRun, PluginInstance, Store } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import { approval, callsPerRun } from '@sluice/hooks-policy'
import { fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { Ended, RigOptions } from '../../hooks/support/rig.js'
import { ALL, desk, gate, notes, rig } from '../../hooks/support/rig.js'

const NAMESPACE = 'plugin:hooks-policy/approval'
const KEY = 'a-key-of-more-than-thirty-two-characters'
const HOUR = 3_600_000

const paused = ({ run, error }: Ended): PausedRun => {
  if (run?.status !== 'paused') throw new Error(`the run is ${run?.status ?? error?.code}, not paused`)
  return run
}

type Options = Parameters<typeof approval>[0]

async function asking(
  script: Parameters<typeof rig>[0],
  options: Partial<Options> = {},
  more: RigOptions & { readonly beside?: readonly PluginInstance[] } = {},
) {
  const { tool, calls } = notes()
  const { beside = [], ...rest } = more
  const plugin = approval({ tools: ['write_note'], ...options } as Options)
  const given = await rig(script, { agents: [desk([tool])], plugins: [plugin, ...beside], ...rest })
  const documents = given.store.documents(NAMESPACE)
  const start = async () => paused(await given.run({ caller: { user: 'petra.k', tenant: 'acme' } }))
  const decide = (run: PausedRun, decision: 'approve' | 'deny', by = 'boss', index = 0) =>
    given.runtime.decide(run.executionId, {
      effectId: run.pending[index]?.effectId ?? '',
      decision,
      by,
      note: `${decision} by ${by}`,
      ...ALL,
    })
  const resume = (run: PausedRun) => given.end(given.runtime.resume(run.executionId, ALL))
  const records = (run: PausedRun) => given.runtime.plugin(approval).list(run.executionId)
  /** Codes of the answers that stopped calls of tools, in order. */
  const codes = async ({ executionId }: PausedRun) =>
    (await given.runtime.executions.receipts(executionId, ALL))
      .filter(({ effect }) => effect === 'tool_call')
      .flatMap(({ askings }) => askings.flatMap(({ gates }) => gates.flatMap(({ code }) => code ?? [])))
  return { ...given, calls, tool, documents, start, decide, resume, records, codes }
}

const NOTE = reply.toolCall('write_note', { text: 'a' })

describe('approval', () => {
  it('CASE-06: the run pauses with what a human has to know; a yes lets this call run, once', async () => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    expect(run.pending).toMatchObject([
      {
        code: 'APPROVAL_REQUIRED',
        plugin: 'hooks-policy/approval',
        expiresAt: given.clock.now() + 24 * HOUR,
        details: {
          tool: 'write_note',
          effect: 'write',
          agent: 'desk',
          requestedBy: 'petra.k',
          tenant: 'acme',
          args: { text: 'a' },
          ask: 1,
        },
      },
    ])
    expect(given.calls).toEqual([])
    await given.decide(run, 'approve')
    const done = await given.resume(run)
    expect([done.run?.text, given.calls]).toEqual(['Done.', ['a']])
    expect(await given.records(run)).toMatchObject([
      { state: 'consumed', ask: 1, decision: { decision: 'approve', by: 'boss' }, consumed: { attempt: 2 } },
    ])
  })

  it('a no is read by the model with its note, and the call does not run', async () => {
    const given = await asking([NOTE, 'As you wish.'])
    const run = await given.start()
    await given.decide(run, 'deny')
    expect([(await given.resume(run)).run?.text, given.calls]).toEqual(['As you wish.', []])
    expect(given.provider.requests[1]?.messages.at(-1)).toMatchObject({
      content: [{ result: 'deny by boss', status: 'refused' }],
    })
    expect(await given.records(run)).toMatchObject([{ state: 'denied', decision: { by: 'boss' } }])
    expect(await given.codes(run)).toEqual(['APPROVAL_REQUIRED', 'DENIED'])
  })

  it('CASE-06: a second decision and a second resume are refused by name', async () => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    await given.decide(run, 'approve')
    await expect(given.decide(run, 'deny', 'other')).rejects.toMatchObject({
      code: 'ALREADY_DECIDED',
      details: { by: 'boss' },
    })
    await given.resume(run)
    expect((await given.resume(run)).code).toBe('NOT_PAUSED')
    expect(given.calls).toEqual(['a'])
  })

  it('CASE-06: of two answers at once one counts, and of two resumes at once one runs the call', async () => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    const answers = await Promise.allSettled(
      ['boss', 'chief'].map((by) => given.decide(run, by === 'boss' ? 'approve' : 'deny', by)),
    )
    const refusedAnswers = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    expect(refusedAnswers).toMatchObject([{ code: 'ALREADY_DECIDED' }])
    const kept = answers[0]?.status === 'fulfilled'
    const ends = await Promise.all([given.resume(run), given.resume(run)])
    expect(ends.flatMap(({ code }) => code ?? [])).toHaveLength(1)
    expect(ends.flatMap(({ run: ended }) => ended?.text ?? [])).toEqual(['Done.'])
    expect(given.calls).toEqual(kept ? ['a'] : [])
  })

  it('CASE-06: a second call of the same tool, with the same arguments, asks again', async () => {
    const given = await asking([NOTE, NOTE, 'Done.'])
    const run = await given.start()
    await given.decide(run, 'approve')
    const again = paused(await given.resume(run))
    expect(given.calls).toEqual(['a'])
    await given.decide(again, 'approve')
    expect((await given.resume(again)).run?.text).toBe('Done.')
    expect(given.calls).toEqual(['a', 'a'])
  })

  it.each([
    ['without a key', {}],
    ['with a key', { key: KEY }],
  ])(
    'two calls of one round wait together, %s; the one approved first runs once, when both are answered',
    async (_what, options) => {
      const given = await asking([NOTE.toolCall('write_note', { text: 'b' }), 'Done.'], options)
      const run = await given.start()
      expect(run.pending).toHaveLength(2)
      await given.decide(run, 'approve', 'boss', 0)
      const between = paused(await given.resume(run))
      expect(given.calls).toEqual([])
      expect((await given.records(run)).map((record) => record !== 'forged' && record.state)).toEqual([
        'granted',
        'pending',
      ])
      const open = between.pending.findIndex(({ effectId }) => effectId.endsWith('.t2'))
      await given.decide(between, 'approve', 'boss', open)
      expect((await given.resume(between)).run?.text).toBe('Done.')
      expect(given.calls).toEqual(['a', 'b'])
    },
  )

  it('an answer that came too late counts as none, and the model reads so', async () => {
    const given = await asking([NOTE, 'Too late.'], { expiresIn: HOUR })
    const run = await given.start()
    given.clock.advance(HOUR)
    await expect(given.decide(run, 'approve')).rejects.toMatchObject({ reason: 'decide.expired' })
    expect([(await given.resume(run)).run?.text, given.calls]).toEqual(['Too late.', []])
    expect(await given.records(run)).toMatchObject([{ state: 'expired', decision: null }])
    expect(await given.codes(run)).toEqual(['APPROVAL_REQUIRED', 'APPROVAL_EXPIRED'])
  })

  it('an approval is over at its expiry also where the yes came in time and the run was carried on late', async () => {
    const given = await asking([NOTE, 'Too late.'], { expiresIn: HOUR })
    const run = await given.start()
    await given.decide(run, 'approve')
    given.clock.advance(HOUR)
    expect([(await given.resume(run)).run?.text, given.calls]).toEqual(['Too late.', []])
    expect(await given.records(run)).toMatchObject([{ state: 'expired', decision: { by: 'boss' } }])
  })

  it('gates are asked again just before the execution: what was approved can still be stopped', async () => {
    let closed = false
    const office = gate('beforeToolCall', () => {
      if (closed) throw new Error('closed')
    })
    const given = await asking([NOTE], {}, { beside: [office] })
    const run = await given.start()
    await given.decide(run, 'approve')
    closed = true
    expect([(await given.resume(run)).code, given.calls]).toEqual(['HOOK_FAILED', []])
  })
})

describe('who may decide', () => {
  it.each([
    'petra.k',
    'Petra.K',
    ' petra.k ',
    'ｐｅｔｒａ.k',
    'petra\u200b.k',
    'petra.k\u2060',
    'pet\u00adra.k',
    'petra. k',
  ])('the one who started the run may not approve what it writes (%j): it pauses again for another', async (by) => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    await given.decide(run, 'approve', by)
    const again = paused(await given.resume(run))
    expect(given.calls).toEqual([])
    expect(again.pending).toMatchObject([{ code: 'APPROVAL_DECIDER', details: { ask: 2, refused: { by } } }])
    // carried on without a new answer it pauses as before, and the old answer counts no more
    const still = paused(await given.resume(again))
    expect([given.calls, still.pending[0]?.details?.ask]).toEqual([[], 2])
    await given.decide(still, 'approve', 'boss')
    expect((await given.resume(still)).run?.text).toBe('Done.')
    expect(given.calls).toEqual(['a'])
  })

  it('the one who started it may say no', async () => {
    const given = await asking([NOTE, 'As you wish.'])
    const run = await given.start()
    await given.decide(run, 'deny', 'petra.k')
    expect([(await given.resume(run)).run?.text, given.calls]).toEqual(['As you wish.', []])
  })

  it('mayDecide says who may, from what is pending; only true lets an answer count', async () => {
    const seen: unknown[] = []
    const answers: unknown[] = ['yes', undefined, true]
    const given = await asking([NOTE, 'Done.'], {
      mayDecide: ((by: string, pending: JsonObject) => {
        seen.push([by, pending.toolCode, pending.args, (pending.caller as JsonObject).user, pending.decision])
        return answers.shift()
      }) as never,
    })
    let run = await given.start()
    for (let time = 1; time <= 2; time++) {
      await given.decide(run, 'approve', 'petra.k')
      given.clock.advance(1)
      run = paused(await given.resume(run))
    }
    expect(given.calls).toEqual([])
    await given.decide(run, 'approve', 'petra.k')
    expect([(await given.resume(run)).run?.text, given.calls]).toEqual(['Done.', ['a']])
    expect(seen[0]).toEqual(['petra.k', 'write_note', { text: 'a' }, 'petra.k', 'approve'])
  })

  it('a mayDecide that fails stops the run', async () => {
    const given = await asking([NOTE], { mayDecide: () => Promise.reject(new Error('directory down')) })
    const run = await given.start()
    await given.decide(run, 'approve')
    expect([(await given.resume(run)).code, given.calls]).toEqual(['HOOK_FAILED', []])
  })

  it('one run asks no more than maxAsks', async () => {
    const given = await asking([NOTE, NOTE, NOTE], { maxAsks: 2 })
    let run = await given.start()
    await given.decide(run, 'approve')
    run = paused(await given.resume(run))
    await given.decide(run, 'approve')
    const ended = await given.resume(run)
    expect([ended.code, ended.error?.details, given.calls]).toEqual([
      'APPROVAL_LIMIT',
      { asks: 2, maxAsks: 2 },
      ['a', 'a'],
    ])
  })

  it('a run that asks nobody keeps no count behind', async () => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    expect(await given.documents.get(['asks', run.executionId])).toEqual({ asks: 1 })
    await given.decide(run, 'approve')
    await given.resume(run)
    expect(await given.documents.get(['asks', run.executionId])).toBeUndefined()
  })
})

describe('approvals that are not what they say', () => {
  const at = (run: PausedRun) => ['approval', run.executionId, run.pending[0]?.effectId ?? '']
  type Stored = { record: JsonObject & { binding: JsonObject }; seal: string | null }
  const changed = async (
    given: Awaited<ReturnType<typeof asking>>,
    run: PausedRun,
    change: (stored: Stored) => unknown,
  ) => {
    const stored = structuredClone(await given.documents.get(at(run))) as unknown as Stored
    await given.documents.put(at(run), change(stored) as JsonObject)
  }

  it.each(['agent', 'arguments', 'caller', 'runContext', 'tenant', 'tool', 'toolDefinition'])(
    'CASE-06: approved for another %s, it is refused by name, with who decided and when',
    async (part) => {
      const given = await asking([NOTE])
      const run = await given.start()
      await changed(given, run, ({ record, seal }) => ({
        record: { ...record, binding: { ...record.binding, [part]: 'another' } },
        seal,
      }))
      await given.decide(run, 'approve')
      const decidedAt = given.clock.now()
      const { code, error } = await given.resume(run)
      expect([code, given.calls]).toEqual(['APPROVAL_ALTERED', []])
      expect(error?.details).toMatchObject({ by: 'boss', decidedAt, differs: [part] })
    },
  )

  it('approved for what the approver was not shown, it is refused', async () => {
    const given = await asking([NOTE])
    const run = await given.start()
    await changed(given, run, ({ record, seal }) => ({ record: { ...record, shown: 'another' }, seal }))
    await given.decide(run, 'approve')
    const { code, error } = await given.resume(run)
    expect([code, error?.details?.differs, given.calls]).toEqual(['APPROVAL_ALTERED', ['shown'], []])
  })

  it('an approval that was used is refused for another attempt', async () => {
    const given = await asking([NOTE])
    const run = await given.start()
    await changed(given, run, ({ record, seal }) => ({
      record: {
        ...record,
        state: 'consumed',
        decision: { decision: 'approve', by: 'boss', note: null, at: 5 },
        consumed: { attempt: 7, at: 6 },
      },
      seal,
    }))
    await given.decide(run, 'approve')
    const { code, error } = await given.resume(run)
    expect([code, given.calls]).toEqual(['APPROVAL_REPLAYED', []])
    expect(error?.details).toMatchObject({ by: 'boss', decidedAt: 5, usedAt: 6 })
  })

  it.each([
    ['another state', (s: Stored) => ({ ...s, record: { ...s.record, state: 'granted' } })],
    ['a later expiry', (s: Stored) => ({ ...s, record: { ...s.record, expiresAt: 9e15 } })],
    ['no seal', (s: Stored) => ({ ...s, seal: null })],
    ['the seal of another length', (s: Stored) => ({ ...s, seal: 'x' })],
  ])('with a key, a record that was given %s by somebody else is forged', async (_what, change) => {
    const given = await asking([NOTE], { key: KEY })
    const run = await given.start()
    await changed(given, run, change as never)
    await given.decide(run, 'approve')
    expect([(await given.resume(run)).code, given.calls]).toEqual(['APPROVAL_FORGED', []])
    expect(await given.records(run)).toEqual(['forged'])
  })

  it.each([
    ['text', 'granted'],
    ['an approval of another call', 'other'],
    ['one without all its fields', 'half'],
  ])('in place of the record stands %s: forged, with and without a key', async (_what, how) => {
    const given = await asking([NOTE])
    const run = await given.start()
    await changed(given, run, (stored) =>
      how === 'granted'
        ? how
        : how === 'half'
          ? { record: { state: 'granted' }, seal: null }
          : { ...stored, record: { ...stored.record, effectId: `${run.executionId}/m9.t1` } },
    )
    await given.decide(run, 'approve')
    expect([(await given.resume(run)).code, given.calls]).toEqual(['APPROVAL_FORGED', []])
  })

  it('a record that is gone asks anew: the answer to the question that is gone does not count', async () => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    await given.documents.delete(at(run))
    await given.decide(run, 'approve')
    const again = paused(await given.resume(run))
    expect(given.calls).toEqual([])
    await given.decide(again, 'approve', 'boss2')
    expect([(await given.resume(again)).run?.text, given.calls]).toEqual(['Done.', ['a']])
  })

  it("an answer to another plugin's question is no approval", async () => {
    const { Pause } = await import('@sluice/core')
    const other = gate(
      'inspectToolInput',
      (context) => {
        if (context.decision === undefined) throw new Pause('OTHER')
      },
      { name: 'a-plugin-that-asks-first', stage: 10 },
    )
    const given = await asking([NOTE, 'Done.'], {}, { beside: [other] })
    const run = await given.start()
    expect(run.pending).toMatchObject([{ code: 'OTHER' }])
    await given.decide(run, 'approve')
    const again = paused(await given.resume(run))
    expect([again.pending[0]?.code, given.calls]).toEqual(['APPROVAL_REQUIRED', []])
    await given.decide(again, 'approve', 'boss2')
    expect([(await given.resume(again)).run?.text, given.calls]).toEqual(['Done.', ['a']])
  })
})

describe('another process', () => {
  it('any process that has the same set carries the run on, with the key and without', async () => {
    for (const key of [undefined, KEY]) {
      const clock = fakeClock()
      const store: Store = createMemoryStore({ clock })
      const options = key === undefined ? {} : { key }
      const first = await asking([NOTE], options, { clock, store })
      const run = await first.start()
      const second = await asking(['Done.'], options, { clock, store, seed: 1 })
      await second.decide(run, 'approve')
      expect([(await second.resume(run)).run?.text, second.calls, first.calls]).toEqual(['Done.', ['a'], []])
    }
  })

  it('under another key nothing that was asked before counts', async () => {
    const clock = fakeClock()
    const store: Store = createMemoryStore({ clock })
    const first = await asking([NOTE], { key: KEY }, { clock, store })
    const run = await first.start()
    const second = await asking([], { key: `${KEY}-of-somebody-else` }, { clock, store, seed: 1 })
    await second.decide(run, 'approve')
    const ended = await second.end(
      second.runtime.resume(run.executionId, { ...ALL, acceptHooks: ['hooks-policy/approval'] }),
    )
    expect([ended.code, second.calls]).toEqual(['APPROVAL_FORGED', []])
  })
})

describe('the gates that an approval was given under', () => {
  const rule = (max: number) => callsPerRun({ tool: 'write_note', max, unit: 'run' })

  async function resumedUnder(beside: readonly PluginInstance[], accept: readonly string[] = []) {
    const clock = fakeClock()
    const store: Store = createMemoryStore({ clock })
    const first = await asking([NOTE], {}, { clock, store, beside: [rule(1)] })
    const run = await first.start()
    await first.decide(run, 'approve')
    const second = await asking(['Done.'], {}, { clock, store, seed: 1, beside })
    const ended = await second.end(second.runtime.resume(run.executionId, { ...ALL, acceptHooks: [...accept] }))
    return { ...second, first: run, ended }
  }

  it('are bound: under other options, which an operator accepted, the human is asked anew', async () => {
    const given = await resumedUnder([rule(2)], ['hooks-policy/calls-per-run'])
    const again = paused(given.ended)
    expect([again.pending[0]?.code, again.pending[0]?.details?.ask, given.calls]).toEqual(['APPROVAL_REQUIRED', 2, []])
    // the old yes counts no more; a new one does
    expect((await given.resume(again)).run?.status).toBe('paused')
    await given.decide(again, 'approve', 'chief')
    expect([(await given.resume(again)).run?.text, given.calls]).toEqual(['Done.', ['a']])
    expect(await given.records(again)).toMatchObject([{ state: 'consumed', ask: 2, decision: { by: 'chief' } }])
  })

  it('are bound: without one of them, which an operator accepted, the human is asked anew', async () => {
    const given = await resumedUnder([], ['hooks-policy/calls-per-run'])
    const again = paused(given.ended)
    expect([again.pending[0]?.details?.ask, given.calls]).toEqual([2, []])
    await given.decide(again, 'approve', 'chief')
    expect([(await given.resume(again)).run?.text, given.calls]).toEqual(['Done.', ['a']])
  })

  it('may be joined by others, which can only stop more', async () => {
    const given = await resumedUnder([rule(1), gate('beforeToolCall', () => undefined, { name: 'newcomer' })])
    expect([given.ended.run?.text, given.calls]).toEqual(['Done.', ['a']])
  })

  it('who decided and when stands on the refusal of a second answer and of a second resume', async () => {
    const given = await asking([NOTE, 'Done.'])
    const run = await given.start()
    await given.decide(run, 'approve')
    const decided = { effectId: run.pending[0]?.effectId, decision: 'approve', by: 'boss', at: given.clock.now() }
    const second = await given.decide(run, 'deny').catch((error: unknown) => error)
    expect(second).toMatchObject({ code: 'ALREADY_DECIDED', details: decided })
    await given.resume(run)
    expect((await given.resume(run)).error).toMatchObject({ code: 'NOT_PAUSED', details: { decisions: [decided] } })
  })
})
