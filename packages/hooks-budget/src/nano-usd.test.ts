import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { divideUp, formatUsd, parseUsd } from './nano-usd.js'

describe('nano-USD', () => {
  it.each([
    ['0', 0n],
    ['0.50', 500_000_000n],
    ['12', 12_000_000_000n],
    ['0.000000001', 1n],
    ['0.0000000010000', 1n],
    ['9007199254740993', 9_007_199_254_740_993_000_000_000n],
  ])('CASE-10: reads %s exactly', (text, amount) => {
    expect(parseUsd(text)).toBe(amount)
  })

  it.each(['', ' 1', '-1', '+1', '1e3', '.5', '1.', '0x10', '1,5', 'NaN', 'Infinity', '0.0000000001', '1'.repeat(31)])(
    'refuses %j, which is no amount',
    (text) => {
      expect(parseUsd(text)).toBeUndefined()
    },
  )

  it('CASE-10: 0.1 and 0.7 are exactly 0.8, and a third of a cent 10 000 times has no drift', () => {
    expect((parseUsd('0.1') ?? 0n) + (parseUsd('0.7') ?? 0n)).toBe(parseUsd('0.8'))
    let sum = 0n
    for (let time = 0; time < 10_000; time++) sum += parseUsd('0.003333333') ?? 0n
    expect(formatUsd(sum)).toBe('33.33333')
  })

  it('CASE-10: one million charges of $0.00000045 are exactly $0.45', () => {
    let sum = 0n
    for (let time = 0; time < 1_000_000; time++) sum += 450n
    expect(formatUsd(sum)).toBe('0.45')
  })

  it('shows every amount so that it reads back as itself', () => {
    fc.assert(fc.property(fc.bigInt(0n, 10n ** 30n), (amount) => parseUsd(formatUsd(amount)) === amount))
    expect(formatUsd(-1_500_000_000n)).toBe('-1.50')
  })

  it('rounds up to the next whole number and never twice', () => {
    expect([divideUp(0n, 3n), divideUp(1n, 3n), divideUp(3n, 3n), divideUp(4n, 3n)]).toEqual([0n, 1n, 1n, 2n])
  })
})
