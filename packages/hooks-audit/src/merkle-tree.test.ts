import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HashList } from './hash-list.js'
import { MerkleTree, rootOf } from './merkle-tree.js'

const sha = (...parts: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const hashes = Array.from({ length: 40 }, (_, index) => sha(Buffer.from(`entry ${index}`)))
const list = (size: number) => {
  const found = new HashList()
  for (const hash of hashes.slice(0, size)) found.push(hash.toString('hex'))
  return found
}

/** The definition of RFC 9162, 2.1.1, word for word. */
function head(data: readonly Buffer[]): Buffer {
  if (data.length === 0) return sha()
  if (data.length === 1) return sha(Buffer.from([0]), data[0] as Buffer)
  const k = splitOf(data.length)
  return sha(Buffer.from([1]), head(data.slice(0, k)), head(data.slice(k)))
}

/** The definition of RFC 9162, 2.1.3.1, word for word. */
function pathOf(m: number, data: readonly Buffer[]): Buffer[] {
  if (data.length <= 1) return []
  const k = splitOf(data.length)
  return m < k
    ? [...pathOf(m, data.slice(0, k)), head(data.slice(k))]
    : [...pathOf(m - k, data.slice(k)), head(data.slice(0, k))]
}

const splitOf = (count: number) => 2 ** Math.ceil(Math.log2(count) - 1)

describe('the tree of a log', () => {
  it('is the Merkle tree of RFC 9162, root and inclusion paths, at every size and leaf', () => {
    for (let size = 0; size <= hashes.length; size++) {
      const data = hashes.slice(0, size)
      const tree = new MerkleTree(list(size))
      expect(tree.root).toBe(head(data).toString('hex'))
      for (let leaf = 0; leaf < size; leaf++) {
        expect(tree.path(leaf)).toEqual(pathOf(leaf, data).map((hash) => hash.toString('hex')))
      }
    }
  })

  it('a path leads to the root from its own leaf in a tree of its own size, and from no other', () => {
    const wrong: string[] = []
    for (let size = 1; size <= 20; size++) {
      const tree = new MerkleTree(list(size))
      for (let leaf = 0; leaf < size; leaf++) {
        const path = tree.path(leaf)
        const from = (hash: number, place: number, count: number, way = path) =>
          rootOf((hashes[hash] as Buffer).toString('hex'), place, count, way) === tree.root
        if (!from(leaf, leaf, size)) wrong.push(`${leaf} of ${size}`)
        for (let other = 0; other < 20; other++) {
          if (other !== leaf && from(other, leaf, size)) wrong.push(`hash ${other} as ${leaf} of ${size}`)
          if (other !== leaf && from(leaf, other, size)) wrong.push(`${leaf} at ${other} of ${size}`)
        }
        if (from(leaf, leaf, size, path.slice(1)) && path.length > 0) wrong.push(`short ${leaf} of ${size}`)
        if (from(leaf, leaf, size, [...path, '0'.repeat(64)])) wrong.push(`long ${leaf} of ${size}`)
      }
    }
    expect(wrong).toEqual([])
    for (const place of [-1, 1, 0.5, Number.NaN]) expect(rootOf('0'.repeat(64), place, 1, [])).toBeUndefined()
  })
})
