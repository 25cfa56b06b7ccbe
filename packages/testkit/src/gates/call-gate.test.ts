import { describe, expect, it } from 'vitest'
import { createMemoryStore, definePlugin, getExecutionContext, SluiceError, Veto } from '@sluice/core'
import { z } from 'zod'
import { FAILURES, failingPlugin } from '../plugins/failing-plugin.js'
import { fakeClock } from '../time/fake-clock.js'
import { callGate } from './call-gate.js'
import { expectVeto } from './expect-veto.js'

/** The three rules of section B: a switch that can be thrown at any time, a named clerk, one attempt per run. */
const deskRules = definePlugin({
  name: 'desk-rules',
  hookApi: 1,
  options: z.object({ tool: z.string().default('ap_approve_invoice') }),
  apply(hooks, host) {
    hooks.beforeToolCall.tapPromise('rules', async (context) => {
      const applies = context.agentCode === null || context.agentCode === 'ap_desk'
      if (context.toolCode !== host.options.tool || !applies) return
      if ((await host.storage.documents.get(['AGENT_APPROVALS_ENABLED'])) !== 'Y') {
        throw new Veto('AP_SWITCHED_OFF', 'Approvals are switched off.')
      }
      if (getExecutionContext().runContext.clerk === undefined) {
        throw new Veto('AP_CLERK_REQUIRED', 'A named clerk is required.')
      }
    })
  },
})

async function openStore(value: string) {
  const store = createMemoryStore()
  await store.documents('plugin:desk-rules').put(['AGENT_APPROVALS_ENABLED'], value)
  return store
}

const approve = { agentCode: 'ap_desk', toolCode: 'ap_approve_invoice' }
const clerk = { runContext: { clerk: 'petra.k' } }

describe('callGate', () => {
  it('T-1, T-2: the reference cases of the desk, outside any run', async () => {
    const store = await openStore('Y')
    expect(
      (await callGate(deskRules, 'beforeToolCall', { ...approve, toolCode: 'ap_get_invoice' }, { store })).answer,
    ).toBe('passed')
    expect((await callGate(deskRules, 'beforeToolCall', approve, { store, ...clerk })).answer).toBe('passed')
    await expectVeto(callGate(deskRules, 'beforeToolCall', approve, { store }), {
      code: 'AP_CLERK_REQUIRED',
      by: 'desk-rules',
      point: 'beforeToolCall',
    })
    const off = await openStore('N')
    await expectVeto(callGate(deskRules, 'beforeToolCall', approve, { store: off, ...clerk }), {
      code: 'AP_SWITCHED_OFF',
    })
  })

  it('B-2: a missing row vetoes too, and B-8: so does a standalone call without an agent code', async () => {
    await expectVeto(callGate(deskRules, 'beforeToolCall', approve, clerk), { code: 'AP_SWITCHED_OFF' })
    await expectVeto(callGate(deskRules, 'beforeToolCall', { ...approve, agentCode: null }), {
      code: 'AP_SWITCHED_OFF',
    })
  })

  it('takes an instance, or a factory with its options', async () => {
    const other = { ...approve, toolCode: 'other' }
    expect((await callGate(deskRules({ tool: 'other' }), 'beforeToolCall', other)).code).toBe('AP_SWITCHED_OFF')
    expect((await callGate(deskRules, 'beforeToolCall', other, { options: { tool: 'other' } })).code).toBe(
      'AP_SWITCHED_OFF',
    )
    expect((await callGate(deskRules, 'beforeToolCall', other)).answer).toBe('passed')
    await expect(callGate(deskRules, 'beforeToolCall', other, { options: { tool: 7 as never } })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG' }),
    )
  })

  it('a point that the plugin does not tap is refused: it did not pass, it was not asked', async () => {
    const untapped = await callGate(deskRules, 'beforeExecution').catch((error: unknown) => error)
    expect(SluiceError.isInstance(untapped, 'GATE_NOT_TAPPED')).toBe(true)
    for (const point of ['afterToolCall', 'toString', 'beforeToolcall']) {
      await expect(callGate(deskRules, point as never)).rejects.toThrow(
        expect.objectContaining({ code: 'GATE_UNKNOWN' }),
      )
    }
    // `authorize` belongs to a tool and is not asked of a plugin
    await expect(callGate(deskRules, 'x' as never)).rejects.toThrow(/beforeToolCall, inspectToolInput\.\n/)
  })

  it('a fact, an option or an expectation that there is not is refused: ignored, it would let the test pass', async () => {
    const unknown = expect.objectContaining({ code: 'OPTION_UNKNOWN' })
    const gate = (facts: object, options: object = {}) => callGate(deskRules, 'beforeToolCall', facts, options as never)
    await expect(gate({ tool_code: 'x', args: {} })).rejects.toThrow(unknown)
    await expect(gate({ args: {} })).rejects.toThrow(/cannot have "args"; there are effectId, .*toolCode/)
    await expect(gate({}, { user: 'petra.k' })).rejects.toThrow(/cannot have "user"; there are options, caller/)
    await expect(gate({}, null as never)).rejects.toThrow(unknown)
    await expect(expectVeto(new Veto('A', 'b'), { coed: 'B' } as never)).rejects.toThrow(unknown)
  })

  it.each(FAILURES.flatMap((row) => (['tap', 'tapPromise', 'tapAsync'] as const).map((via) => ({ ...row, via }))))(
    'CASE-01: a gate that does "$as" through $via answers "$answer" and never passes',
    async ({ as, answer, via }) => {
      const clock = fakeClock()
      for (const point of ['beforeExecution', 'beforeModelCall', 'beforeToolCall', 'inspectToolInput'] as const) {
        const result = await clock.settle(callGate(failingPlugin({ point, as, via }), point, {}, { clock }))
        expect([point, result.answer, result.code]).toEqual([point, answer, 'HOOK_FAILED'])
        expect(result.gates).toMatchObject([{ plugin: 'failing-plugin', point, answer }])
        const failed = await expectVeto(result).catch((error: unknown) => error)
        expect(SluiceError.isInstance(failed, 'NOT_VETOED')).toBe(true)
        expect(String(failed)).toContain('failed instead of answering')
      }
    },
  )

  it('CASE-01: a failure carries the original value as its cause', async () => {
    for (const [as, cause] of [
      ['throw-string', 'a string'],
      ['reject-undefined', undefined],
      ['throw-null', null],
      ['reject-zero', 0],
    ] as const) {
      const { error } = await callGate(failingPlugin({ point: 'beforeToolCall', as }), 'beforeToolCall')
      expect(error?.cause).toBe(cause)
    }
  })

  it('disposes the plugin when it has answered, also where the point is not tapped', async () => {
    let disposed = 0
    const counts = definePlugin({
      name: 'counts',
      hookApi: 1,
      apply: (hooks) => {
        hooks.beforeExecution.tap('x', () => {})
        return { dispose: () => void (disposed += 1) }
      },
    })
    await callGate(counts, 'beforeExecution')
    await callGate(counts, 'beforeToolCall').catch(() => undefined)
    expect(disposed).toBe(2)
  })

  it('T-16: the wall clock stands still by default; deadlines run in real time', async () => {
    const seen: number[] = []
    const looks = definePlugin({
      name: 'looks',
      hookApi: 1,
      apply: (hooks, host) => hooks.beforeExecution.tap('look', () => void seen.push(host.clock.now())),
    })
    await callGate(looks, 'beforeExecution')
    expect(seen).toEqual([Date.UTC(2026, 0, 1)])
    const result = await callGate(
      failingPlugin({ point: 'beforeExecution', as: 'hang', timeoutMs: 5 }),
      'beforeExecution',
    )
    expect(result.answer).toBe('timed_out')
  })
})

describe('expectVeto', () => {
  const veto = new Veto('NO', 'Not today.')

  it('takes a promise, a function, an error or a gate result, and returns the veto', async () => {
    expect(await expectVeto(Promise.reject(veto))).toBe(veto)
    expect(
      await expectVeto(
        () => {
          throw veto
        },
        { code: 'NO' },
      ),
    ).toBe(veto)
    expect(
      await expectVeto(async () => {
        throw veto
      }),
    ).toBe(veto)
    expect(await expectVeto(veto)).toBe(veto)
  })

  it.each([
    ['a pass', () => callGate(deskRules, 'beforeToolCall', {}), 'the gate answered "passed"'],
    ['a run that ended', () => ({ status: 'completed' }), 'the run ended with status "completed"'],
    ['nothing', () => undefined, 'nothing was thrown'],
    [
      'another error',
      () => {
        throw new TypeError('bug')
      },
      'it was TypeError: bug',
    ],
    [
      'no error at all',
      () => {
        throw 'text' as never
      },
      'something was thrown that is no error: text',
    ],
    ['another code', () => veto, 'the code is NO (Not today.)'],
  ])('fails at %s and says what happened', async (_title, outcome, text) => {
    const failed = await expectVeto(outcome, { code: 'OTHER' }).catch((error: unknown) => error)
    expect(SluiceError.isInstance(failed, 'NOT_VETOED')).toBe(true)
    expect(String(failed)).toContain(`Expected the veto OTHER, but ${text}`)
  })

  it('fails when another plugin or point stopped it', async () => {
    const by = new Veto('NO', 'x', undefined, { by: { plugin: 'budget', point: 'beforeModelCall' } })
    expect(await expectVeto(by, { by: 'budget', point: 'beforeModelCall' })).toBe(by)
    await expect(expectVeto(by, { by: 'audit' })).rejects.toThrow('it came from budget')
    await expect(expectVeto(by, { point: 'beforeToolCall' })).rejects.toThrow('it came at beforeModelCall')
  })
})
