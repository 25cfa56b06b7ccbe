import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChunkList } from './chunk-list.js'

describe('ChunkList', () => {
  it('gives the chunks that hold a range, and no other', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 8 })
    const place = fc.integer({ min: 0, max: 12 })
    fc.assert(
      fc.property(counts, place, fc.integer({ min: 1, max: 12 }), (sizes, first, limit) => {
        const list = new ChunkList()
        for (const [from, count] of sizes.entries()) list.add({ segment: 1, from, bytes: 1, count })
        const owners = sizes.flatMap((count, chunk) => Array.from({ length: count }, () => chunk))
        const wanted = [...new Set(owners.slice(first, first + limit))]
        const { chunks, from } = list.range(first, limit)
        expect(list.count).toBe(owners.length)
        expect(chunks.map((chunk) => chunk.from)).toEqual(wanted)
        if (wanted.length > 0) expect(from).toBe(owners.indexOf(wanted[0] as number))
      }),
      { numRuns: 1_000 },
    )
  })
})
