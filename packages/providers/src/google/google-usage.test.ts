import { describe, expect, it } from 'vitest'
import { googleUsage } from './google-usage.js'

describe('CASE-11: usage of generateContent', () => {
  it('counts thoughts as output, and what tools at the provider put into the prompt as input', () => {
    const { usage, usageMismatch } = googleUsage({
      promptTokenCount: 91,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 93,
      thoughtsTokenCount: 211,
      toolUsePromptTokenCount: 574,
      totalTokenCount: 969,
    })
    expect(usageMismatch).toBeUndefined()
    expect(usage).toEqual({
      inputTokens: 91 + 574 - 40,
      cacheReadTokens: 40,
      cacheWriteTokens: null,
      outputTokens: 304,
      reasoningTokens: 211,
      unreportedCalls: 0,
    })
  })

  it('takes a count that is left out for what the total leaves: nothing came, or thoughts alone', () => {
    expect(googleUsage({ promptTokenCount: 14, totalTokenCount: 14 }).usage).toMatchObject({
      inputTokens: 14,
      outputTokens: 0,
      reasoningTokens: null,
    })
    expect(googleUsage({ promptTokenCount: 15, thoughtsTokenCount: 2, totalTokenCount: 17 }).usage).toMatchObject({
      outputTokens: 2,
      reasoningTokens: 2,
    })
    expect(googleUsage({ promptTokenCount: 15 }).usage).toMatchObject({ inputTokens: 15, outputTokens: null })
  })

  it('CASE-12: reports none where there are no figures, and a mismatch where they do not add up', () => {
    for (const none of [undefined, null, 'x', {}, { trafficType: 'ON_DEMAND' }, { promptTokenCount: -1 }]) {
      expect(googleUsage(none).usage).toMatchObject({ inputTokens: null, outputTokens: null, unreportedCalls: 1 })
    }
    const { usageMismatch } = googleUsage({ promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 99 })
    expect(usageMismatch).toMatchObject({ reportedTotal: 99, sumOfClasses: 15 })
  })
})
