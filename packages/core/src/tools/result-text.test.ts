import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import { isToolRefusal, refuse } from './refuse.js'
import { toResultText } from './result-text.js'

function faultOf(value: unknown): SluiceError {
  try {
    toResultText(value, 'pay')
  } catch (error) {
    if (SluiceError.isInstance(error, 'TOOL_RESULT_INVALID')) return error
    throw error
  }
  throw new Error('accepted')
}

describe('toResultText', () => {
  it('G-29: gives a text as it is and JSON data as JSON', () => {
    expect(toResultText('as "it" is\n', 'pay')).toEqual({ text: 'as "it" is\n', cut: false })
    expect(toResultText('', 'pay').text).toBe('')
    expect(toResultText({ a: [1, null, { b: true }], skipped: undefined }, 'pay').text).toBe(
      '{"a":[1,null,{"b":true}]}',
    )
    expect([0, false, []].map((value) => toResultText(value, 'pay').text)).toEqual(['0', 'false', '[]'])
  })

  it.each([[undefined], [null]])('G-29, CASE-15: %j is no result, and the error names the tool', (value) => {
    const fault = faultOf(value)
    expect(fault.reason).toBe('tool.null_result')
    expect(fault.message).toContain(`Tool 'pay' returned ${String(value)}`)
    expect(fault.message).toContain('refuse(text)')
  })

  it.each([
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a bigint', 1n],
    ['a bigint inside', { a: 1n }],
    ['NaN', Number.NaN],
    ['a Map', new Map([['a', 1]])],
    ['bytes', new Uint8Array(3)],
    ['an Error', new Error('secret')],
    ['what JSON leaves out', { toJSON: () => undefined }],
  ])('refuses %s, which JSON would lose', (_what, value) => {
    expect(faultOf(value).message).not.toContain('secret')
  })

  it('refuses a cycle with its cause', () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    expect(faultOf(cycle).cause).toBeInstanceOf(TypeError)
  })

  it('CASE-15: a very large text is cut to the bound and the cut is marked', () => {
    const bounded = toResultText('é'.repeat(1_000_000), 'pay')
    expect(bounded.cut).toBe(true)
    expect(Buffer.byteLength(bounded.text)).toBeLessThanOrEqual(262_144)
    expect(Buffer.byteLength(bounded.text)).toBeGreaterThan(262_140)
    expect(bounded.text).toMatch(/é\n\[cut: the result is longer than 262144 bytes\]$/)
    expect(toResultText('x'.repeat(262_144), 'pay').cut).toBe(false)
    expect(toResultText('😀😀', 'pay', 7).cut).toBe(true)
  })

  it('CASE-20: unpaired surrogates become U+FFFD, U+0000 and the literal six characters stay', () => {
    expect(toResultText('a\ud800b😀\0\\u0000', 'pay').text).toBe('a\ufffdb😀\0\\u0000')
  })
})

describe('refuse', () => {
  it('G-40: marks a result as a business refusal, and nothing else passes for one', () => {
    const refusal = refuse('Over the limit of this desk.')
    expect(isToolRefusal(refusal)).toBe(true)
    expect(refusal.text).toBe('Over the limit of this desk.')
    expect([{ text: 'x' }, JSON.parse(JSON.stringify(refusal)), 'x', null].some(isToolRefusal)).toBe(false)
    expect(() => Object.assign(refusal, { text: 'y' })).toThrow(TypeError)
  })
})
