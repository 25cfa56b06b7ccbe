import { createMemoryStore, SluiceError, Veto } from '@sluice/core'
import { callGate, failingStore } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { allowTools, callsPerRun, denyTools, requireContext, valueRule } from '../index.js'
import type { ValueCheck } from '../index.js'

const hosted = (code: string) => ({ code, effect: 'read' as const, untrusted: true, maxUses: null, cost: null })

describe('requireContext', () => {
  it('B-3: without the key neither a model nor a tool is called', async () => {
    for (const point of ['beforeModelCall', 'beforeToolCall'] as const) {
      const asked = await callGate(requireContext(['clerk']), point)
      expect([asked.answer, asked.code, asked.error?.details]).toEqual([
        'vetoed',
        'CONTEXT_REQUIRED',
        { missing: ['clerk'] },
      ])
      const named = await callGate(requireContext(['clerk']), point, {}, { runContext: { clerk: 'petra.k' } })
      expect(named.answer).toBe('passed')
    }
  })

  it('an empty value, or one that lies on the prototype, is no value', async () => {
    expect((await callGate(requireContext(['clerk']), 'beforeToolCall', {}, { runContext: { clerk: ' ' } })).code).toBe(
      'CONTEXT_REQUIRED',
    )
    for (const key of ['toString', '__proto__', 'constructor'])
      expect((await callGate(requireContext([key]), 'beforeToolCall')).code).toBe('CONTEXT_REQUIRED')
    expect(
      (await callGate(requireContext(['amount']), 'beforeToolCall', {}, { runContext: { amount: 0 } })).answer,
    ).toBe('passed')
  })

  it('B-1: narrowed to an agent and a tool it leaves all others alone', async () => {
    const rule = () => requireContext({ keys: ['clerk'], agent: 'ap_desk', tool: 'approve' })
    const ask = (agentCode: string | null, toolCode: string) =>
      callGate(rule(), 'beforeToolCall', { agentCode, toolCode }).then(({ answer }) => answer)
    expect(await ask('ap_desk', 'approve')).toBe('vetoed')
    expect(await ask('ap_desk', 'read')).toBe('passed')
    expect(await ask('other', 'approve')).toBe('passed')
  })

  it('B-8: a plain call of the guarded tool, whose agent code is null, is guarded; left out only when it is said', async () => {
    const call = { agentCode: null, toolCode: 'approve' }
    const rule = (standalone?: 'exclude') =>
      requireContext({ keys: ['clerk'], agent: 'ap_desk', ...(standalone === undefined ? {} : { standalone }) })
    expect((await callGate(rule(), 'beforeToolCall', call)).answer).toBe('vetoed')
    expect((await callGate(rule('exclude'), 'beforeToolCall', call)).answer).toBe('passed')
  })
})

describe('allowTools and denyTools', () => {
  it('only what is on the list runs; an empty list lets nothing run', async () => {
    const ask = (list: string[], toolCode: string) =>
      callGate(allowTools(list), 'beforeToolCall', { toolCode }).then(({ code }) => code)
    expect(await ask(['read'], 'read')).toBeUndefined()
    expect(await ask(['read'], 'Read')).toBe('TOOL_NOT_ALLOWED')
    expect(await ask([], 'read')).toBe('TOOL_NOT_ALLOWED')
    expect(await ask(['read'], '__proto__')).toBe('TOOL_NOT_ALLOWED')
  })

  it('what is denied does not run, and all else does', async () => {
    const ask = (toolCode: string) =>
      callGate(denyTools(['send']), 'beforeToolCall', { toolCode }).then(({ code }) => code)
    expect([await ask('send'), await ask('read')]).toEqual(['TOOL_DENIED', undefined])
  })

  it('a hosted tool, which passes no tool gate, is stopped before the request that offers it', async () => {
    const facts = { hostedTools: [hosted('calculator'), hosted('web_search')] }
    expect((await callGate(denyTools(['web_search']), 'beforeModelCall', facts)).code).toBe('TOOL_DENIED')
    expect((await callGate(allowTools(['calculator']), 'beforeModelCall', facts)).code).toBe('TOOL_NOT_ALLOWED')
    expect((await callGate(allowTools(['calculator', 'web_search']), 'beforeModelCall', facts)).answer).toBe('passed')
  })

  it('B-8: narrowed to an agent it still covers plain calls', async () => {
    const rule = () => denyTools({ tools: ['send'], agent: 'helper' })
    const ask = (agentCode: string | null) =>
      callGate(rule(), 'beforeToolCall', { agentCode, toolCode: 'send' }).then(({ code }) => code)
    expect([await ask('helper'), await ask(null), await ask('other')]).toEqual([
      'TOOL_DENIED',
      'TOOL_DENIED',
      undefined,
    ])
  })
})

describe('callsPerRun', () => {
  it('CASE-09: 0 lets no call through', async () => {
    const asked = await callGate(callsPerRun({ tool: 'approve', max: 0, unit: 'run' }), 'beforeToolCall', {
      toolCode: 'approve',
    })
    expect(asked.code).toBe('CALLS_EXCEEDED')
    expect(asked.error?.details).toEqual({ tools: ['approve'], unit: 'run', max: 0, calls: 1 })
  })

  it('B-7: counted per call where there is no call, it stops by name and shares no bucket', async () => {
    const rule = callsPerRun({ tool: 'approve', max: 5, unit: 'call' })
    const asked = await callGate(rule, 'beforeToolCall', { toolCode: 'approve', requestId: null })
    expect(asked.code).toBe('SCOPE_UNRESOLVED')
  })

  it('a count of a session that cannot be written stops the call', async () => {
    const store = failingStore(createMemoryStore(), [{ on: 'documents.update', as: 'error' }])
    const rule = callsPerRun({ tool: 'approve', max: 5, unit: 'session' })
    const asked = await callGate(rule, 'beforeToolCall', { toolCode: 'approve' }, { store })
    expect(asked.answer).toBe('failed')
  })
})

describe('valueRule', () => {
  const amount: ValueCheck = ({ amount }) => (Number(amount) > 100 ? 'More than 100 is paid by hand.' : undefined)
  const ask = (check: ValueCheck, args: Record<string, never> | { amount: number }, toolCode = 'pay') =>
    callGate(valueRule('pay', check), 'inspectToolInput', { toolCode, args })

  it('B-W3: a call whose arguments break the rule is stopped with the reason that the check gave', async () => {
    const asked = await ask(amount, { amount: 101 })
    expect([asked.answer, asked.code, asked.error?.message]).toEqual([
      'vetoed',
      'VALUE_RULE',
      'More than 100 is paid by hand.',
    ])
    expect((await ask(amount, { amount: 100 })).answer).toBe('passed')
    expect((await ask(amount, { amount: 101 }, 'other')).answer).toBe('passed')
  })

  it('a check that returns anything but a reason or nothing never reads as a pass', async () => {
    for (const value of [false, true, null, 0, {}]) {
      expect((await ask((() => value) as unknown as ValueCheck, { amount: 1 })).answer).toBe('failed')
    }
    expect((await ask(() => Promise.reject(new Error('no')), { amount: 1 })).answer).toBe('failed')
    expect((await ask(() => '', { amount: 1 })).code).toBe('VALUE_RULE')
  })

  it('a check may give an answer of its own, and cannot change what the handler gets', async () => {
    const own = await ask(
      () => {
        throw new Veto('MINE', 'Mine.')
      },
      { amount: 1 },
    )
    expect(own.code).toBe('MINE')
    const changed = await ask(
      (args) => {
        ;(args as { amount: number }).amount = 0
        return undefined
      },
      { amount: 500 },
    )
    expect(changed.answer).toBe('failed')
  })
})

describe('options', () => {
  it.each([
    ['no keys', () => requireContext([])],
    ['an unknown option', () => denyTools({ tools: ['a'], tool: 'b' } as never)],
    ['a bound below 0', () => callsPerRun({ tool: 'a', max: -1, unit: 'run' })],
    ['a unit that is not said', () => callsPerRun({ tool: 'a', max: 1 } as never)],
    ['a check that is no function', () => valueRule('a', 'check' as never)],
  ])('CASE-09: %s is refused when the plugin is applied', async (_what, make) => {
    const point = 'beforeToolCall'
    const error = await callGate(make(), point).catch((thrown: unknown) => thrown)
    expect(SluiceError.isInstance(error, 'INVALID_CONFIG')).toBe(true)
  })
})
