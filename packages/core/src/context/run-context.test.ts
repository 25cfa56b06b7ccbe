import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import {
  bindRunContext,
  EMPTY_RUN_CONTEXT,
  RUN_CONTEXT_BOUNDS,
  type RunContext,
  requireRunContext,
  runContextValue,
} from './run-context.js'

function fault(run: () => unknown): SluiceError {
  try {
    run()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('bindRunContext', () => {
  it('R-1, R-5: binds the pairs of the first turn', () => {
    expect({ ...bindRunContext(undefined, { clerk: 'petra.k', year: 2026, open: true }) }).toEqual({
      clerk: 'petra.k',
      year: 2026,
      open: true,
    })
  })

  it('R-4, R-5: a later turn or nested run inherits the whole context by saying nothing', () => {
    const bound = bindRunContext(undefined, { clerk: 'petra.k' })
    expect(bindRunContext(bound, undefined)).toBe(bound)
    expect(bindRunContext(bound, {})).toBe(bound)
  })

  it('R-6: a later turn adds keys and keeps the bound ones', () => {
    const bound = bindRunContext(undefined, { clerk: 'petra.k' })
    const next = bindRunContext(bound, { invoice: 7 })
    expect({ ...next }).toEqual({ clerk: 'petra.k', invoice: 7 })
    expect({ ...bound }).toEqual({ clerk: 'petra.k' })
  })

  it('R-7: a changed key is refused naming the key, the bound value and the offered value', () => {
    const bound = bindRunContext(undefined, { clerk: 'petra.k' })
    const error = fault(() => bindRunContext(bound, { clerk: 'mallory' }))
    expect(error.code).toBe('RUN_CONTEXT_CONFLICT')
    expect(error.message).toContain("'clerk' is bound to 'petra.k' and cannot become 'mallory'")
    expect(error.message).toContain('Start another session')
    expect(error.details).toEqual({ key: 'clerk', bound: 'petra.k', offered: 'mallory' })
  })

  it('R-7: the same value again is no conflict', () => {
    const bound = bindRunContext(undefined, { clerk: 'petra.k', level: 0 })
    expect(bindRunContext(bound, { clerk: 'petra.k', level: -0 })).toBe(bound)
  })

  it.each([
    ['1', 1],
    [1, '1'],
    [true, 'true'],
    [false, 0],
    ['', false],
  ])('R-10: %j and %j are different values', (bound, offered) => {
    expect(fault(() => bindRunContext(bindRunContext(undefined, { key: bound }), { key: offered })).code).toBe(
      'RUN_CONTEXT_CONFLICT',
    )
  })

  it('R-7: a bound value that is false, 0 or empty is bound all the same', () => {
    for (const value of [false, 0, '']) {
      const bound = bindRunContext(undefined, { key: value })
      expect(fault(() => bindRunContext(bound, { key: 'other' })).code).toBe('RUN_CONTEXT_CONFLICT')
    }
  })

  it('R-8: null does not bind, and a later turn may give the key a value', () => {
    const first = bindRunContext(undefined, { clerk: null, invoice: undefined })
    expect(first).toBe(EMPTY_RUN_CONTEXT)
    expect(bindRunContext(first, { clerk: 'petra.k' }).clerk).toBe('petra.k')
  })

  it('R-8: a later null neither changes a bound key nor is a conflict', () => {
    const bound = bindRunContext(undefined, { clerk: 'petra.k' })
    expect(bindRunContext(bound, { clerk: null })).toBe(bound)
  })

  it('R-10: objects, arrays and other values are refused, all faults at once', () => {
    const error = fault(() =>
      bindRunContext(undefined, {
        list: [1],
        object: { a: 1 },
        nan: Number.NaN,
        infinite: Number.POSITIVE_INFINITY,
        big: 1n,
        call: () => 1,
        half: '\ud800',
        fine: 'yes',
      } as never),
    )
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.reason).toBe('run_context.invalid')
    expect(error.details?.count).toBe(7)
    for (const key of ['list', 'object', 'nan', 'infinite', 'big', 'call', 'half']) {
      expect(error.message).toContain(`- ${key}: `)
    }
    expect(error.message).not.toContain('fine')
  })

  it.each([[null], [[]], ['text'], [new Map([['clerk', 'x']])], [new Date(0)], [Object.create({ clerk: 'x' })]])(
    'R-10: a context that is no plain object is refused or empty, never half taken (%#)',
    (offered) => {
      if (offered === null) expect(bindRunContext(undefined, offered as never)).toBe(EMPTY_RUN_CONTEXT)
      else expect(fault(() => bindRunContext(undefined, offered as never)).code).toBe('INVALID_CONFIG')
    },
  )

  it('CASE-22: keys that reach a prototype are refused by name and change nothing', () => {
    const offered = JSON.parse('{"__proto__": "x", "constructor": "y", "prototype": "z", "clerk": "petra.k"}')
    const error = fault(() => bindRunContext(undefined, offered))
    expect(error.code).toBe('INVALID_CONFIG')
    for (const key of ['__proto__', 'constructor', 'prototype']) expect(error.message).toContain(`- ${key}: `)
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>).clerk).toBeUndefined()
  })

  it('CASE-22: a context has no prototype, so that names of Object are not bound', () => {
    const context = bindRunContext(undefined, { clerk: 'petra.k' })
    expect(context.toString).toBeUndefined()
    expect(context.constructor).toBeUndefined()
    expect({ ...bindRunContext(context, { toString: 'mine', hasOwnProperty: 'too' }) }).toEqual({
      clerk: 'petra.k',
      toString: 'mine',
      hasOwnProperty: 'too',
    })
  })

  it('R-13: the effective context is frozen and later changes of what was offered do not reach it', () => {
    const offered = { clerk: 'petra.k' }
    const context = bindRunContext(undefined, offered)
    offered.clerk = 'mallory'
    expect(context.clerk).toBe('petra.k')
    expect(() => {
      ;(context as Record<string, unknown>).clerk = 'mallory'
    }).toThrow(TypeError)
    expect(() => {
      ;(context as Record<string, unknown>).other = 'x'
    }).toThrow(TypeError)
  })

  it('R-5: a context read from a record is taken over without keeping the record', () => {
    const record: Record<string, string> = { clerk: 'petra.k' }
    const context = bindRunContext(record, undefined)
    record.clerk = 'mallory'
    expect(context.clerk).toBe('petra.k')
    expect(Object.isFrozen(context)).toBe(true)
  })

  it('a value is read once: what was checked is what is bound', () => {
    let reads = 0
    const offered = {
      get clerk(): unknown {
        reads += 1
        return reads === 1 ? 'petra.k' : { evil: true }
      },
    }
    expect(bindRunContext(undefined, offered as never).clerk).toBe('petra.k')
    expect(reads).toBe(1)
  })

  it('bounds are exact at their edge and exceeding them names the bound', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
    const full = bindRunContext(undefined, many(RUN_CONTEXT_BOUNDS.keys))
    expect(Object.keys(full)).toHaveLength(RUN_CONTEXT_BOUNDS.keys)
    expect(fault(() => bindRunContext(undefined, many(RUN_CONTEXT_BOUNDS.keys + 1))).code).toBe('LIMIT_EXCEEDED')
    expect(fault(() => bindRunContext(full, { one: 'more' })).details).toEqual({
      limit: 'runContext.keys',
      actual: RUN_CONTEXT_BOUNDS.keys + 1,
      allowed: RUN_CONTEXT_BOUNDS.keys,
    })
    const text = 'x'.repeat(RUN_CONTEXT_BOUNDS.textLength)
    expect(bindRunContext(undefined, { text }).text).toBe(text)
    expect(fault(() => bindRunContext(undefined, { text: `${text}x` })).details?.limit).toBe('runContext.textLength')
    const key = 'k'.repeat(RUN_CONTEXT_BOUNDS.keyLength)
    expect(bindRunContext(undefined, { [key]: 1 })[key]).toBe(1)
    expect(fault(() => bindRunContext(undefined, { [`${key}k`]: 1 })).details?.limit).toBe('runContext.keyLength')
  })

  it('CASE-29: keys and values stand escaped and cut in messages', () => {
    const bound = bindRunContext(undefined, { clerk: `a\n${'b'.repeat(1000)}` })
    const error = fault(() => bindRunContext(bound, { clerk: '\u001b[31m' }))
    expect(error.message).not.toContain('\u001b')
    expect(error.message.split('\n')).toHaveLength(2)
    expect(error.message.length).toBeLessThan(600)
  })
})

describe('runContextValue', () => {
  const context = bindRunContext(undefined, { clerk: 'petra.k', year: 2026, open: false })
  it('R-14: gives the value as text', () => {
    expect(runContextValue(context, 'clerk')).toBe('petra.k')
    expect(runContextValue(context, 'year')).toBe('2026')
    expect(runContextValue(context, 'open')).toBe('false')
  })
  it('R-14: gives null for an unbound key and for a null bag', () => {
    expect(runContextValue(context, 'invoice')).toBeNull()
    expect(runContextValue(null, 'clerk')).toBeNull()
    expect(runContextValue(undefined, 'clerk')).toBeNull()
  })
  it('CASE-22: reads own keys only', () => {
    expect(runContextValue({ a: 1 } as RunContext, 'toString')).toBeNull()
    expect(runContextValue({ a: 1 } as RunContext, '__proto__')).toBeNull()
  })
})

describe('requireRunContext', () => {
  it('R-W1: names every key that the agent requires and the context lacks', () => {
    const context = bindRunContext(undefined, { clerk: 'petra.k' })
    const error = fault(() => requireRunContext(context, ['clerk', 'invoice', 'toString'], 'ap_desk'))
    expect(error.code).toBe('RUN_CONTEXT_MISSING')
    expect(error.details).toEqual({ agentCode: 'ap_desk', missing: ['invoice', 'toString'] })
    expect(error.message).toContain("Agent 'ap_desk' requires 'invoice', 'toString'")
  })
  it('R-W1: passes when all are bound', () => {
    requireRunContext(bindRunContext(undefined, { clerk: '' }), ['clerk'], 'ap_desk')
    requireRunContext(EMPTY_RUN_CONTEXT, [], 'ap_desk')
  })
})
