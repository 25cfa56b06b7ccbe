import { describe, expect, it } from 'vitest'
import { disjointUsage } from './usage-classes.js'

const NONE = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null, total: null }

describe('disjointUsage', () => {
  it('CASE-11: cached tokens are taken out of the input total, reasoning stays a part of the output', () => {
    expect(
      disjointUsage({ input: 2000, cacheRead: 500, cacheWrite: 300, output: 5200, reasoning: 5000, total: 7200 }),
    ).toEqual({
      usage: {
        inputTokens: 1200,
        cacheReadTokens: 500,
        cacheWriteTokens: 300,
        outputTokens: 5200,
        reasoningTokens: 5000,
        unreportedCalls: 0,
      },
    })
  })

  it('CASE-11: reasoning that a server counts beside the output is added to it', () => {
    const beside = disjointUsage({ input: 100, cacheRead: 0, cacheWrite: null, output: 20, reasoning: 300, total: 420 })
    expect(beside.usage.outputTokens).toBe(320)
    expect(beside.usageMismatch).toBeUndefined()
    // without a total, a part that is larger than the whole says the same
    expect(disjointUsage({ ...NONE, input: 1, output: 20, reasoning: 300 }).usage.outputTokens).toBe(320)
  })

  it('CASE-11: classes that do not add up to the provider’s total are reported with the mismatch', () => {
    const { usage, usageMismatch } = disjointUsage({ ...NONE, input: 10, output: 5, total: 99 })
    expect(usage.inputTokens).toBe(10)
    expect(usageMismatch).toEqual({ reportedTotal: 99, sumOfClasses: 15, reportedInput: 10, cached: 0 })
  })

  it('CASE-11: more cached tokens than input tokens never become a negative figure', () => {
    const { usage, usageMismatch } = disjointUsage({ ...NONE, input: 10, cacheRead: 30, output: 5 })
    expect(usage.inputTokens).toBe(10)
    expect(usageMismatch).toMatchObject({ reportedInput: 10, cached: 30 })
  })

  it('CASE-12: nothing reported is not 0, and a class that is not reported is null', () => {
    expect(disjointUsage(NONE).usage).toMatchObject({ inputTokens: null, outputTokens: null, unreportedCalls: 1 })
    expect(disjointUsage({ ...NONE, input: 3, output: 0 }).usage).toMatchObject({
      inputTokens: 3,
      cacheReadTokens: null,
      outputTokens: 0,
      reasoningTokens: null,
      unreportedCalls: 0,
    })
  })
})
