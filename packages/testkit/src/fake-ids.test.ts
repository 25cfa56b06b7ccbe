import { describe, expect, it } from 'vitest'
import { fakeIds } from './fake-ids.js'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('fakeIds', () => {
  it('T-12: gives the same valid, growing ids in every run', () => {
    const ids = fakeIds()
    const drawn = Array.from({ length: 300 }, () => ids.id())
    expect(drawn.every((id) => UUID_V7.test(id))).toBe(true)
    expect([...drawn].sort()).toEqual(drawn)
    const again = fakeIds()
    expect(Array.from({ length: 300 }, () => again.id())).toEqual(drawn)
  })

  it('Z-7: request ids are 32 hexadecimal characters and differ from each other', () => {
    const ids = fakeIds(7)
    const drawn = Array.from({ length: 50 }, () => ids.requestId())
    expect(drawn.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true)
    expect(new Set(drawn).size).toBe(50)
  })

  it('different seeds never give the same id', () => {
    const seeds = [0, 1, 0x3fff, 0x4000, 0x8001, 0xffff]
    expect(new Set(seeds.map((seed) => fakeIds(seed).id())).size).toBe(seeds.length)
    expect(new Set(seeds.map((seed) => fakeIds(seed).requestId())).size).toBe(seeds.length)
    expect(seeds.every((seed) => UUID_V7.test(fakeIds(seed).id()))).toBe(true)
  })

  it('refuses a seed that is out of range', () => {
    for (const seed of [-1, 0x10000, 1.5, Number.NaN]) expect(() => fakeIds(seed)).toThrow(RangeError)
  })
})
