import { describe, expect, it } from 'vitest'
import { parseDuration } from './parse-duration.js'

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '2', 'h', '0h', '-1h', '1.5h', '2 h', '2hours', '9999999999d', '__proto__'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})
