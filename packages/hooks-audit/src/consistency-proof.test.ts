import { createHash, generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { AuditCheckpoint } from './checkpoint.js'
import { signCheckpoint } from './checkpoint.js'
import type { ConsistencyProof } from './consistency-proof.js'
import { verifyConsistency } from './consistency-proof.js'
import { HashList } from './hash-list.js'
import { areConsistent } from './merkle-consistency.js'
import { MerkleFrontier } from './merkle-frontier.js'
import { MerkleTree } from './merkle-tree.js'

const SIZE = 34
const sha = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const leaves = Array.from({ length: SIZE }, (_, index) => sha(Buffer.from(`entry ${index}`)))
const treeOf = (size: number, all = leaves) => new MerkleTree(new HashList(Buffer.concat(all.slice(0, size))))
const headOf = (size: number, all = leaves) => ({ size, root: treeOf(size, all).root })

/** MTH of RFC 9162, 2.1.1, word for word. */
function head(data: readonly Buffer[]): Buffer {
  if (data.length === 0) return sha()
  if (data.length === 1) return sha(Buffer.from([0]), data[0] as Buffer)
  const k = splitOf(data.length)
  return sha(Buffer.from([1]), head(data.slice(0, k)), head(data.slice(k)))
}

/** SUBPROOF of RFC 9162, 2.1.4.1, word for word. */
function subproof(m: number, data: readonly Buffer[], whole: boolean): Buffer[] {
  if (m === data.length) return whole ? [] : [head(data)]
  const k = splitOf(data.length)
  return m <= k
    ? [...subproof(m, data.slice(0, k), whole), head(data.slice(k))]
    : [...subproof(m - k, data.slice(k), false), head(data.slice(0, k))]
}

const splitOf = (count: number) => 2 ** Math.ceil(Math.log2(count) - 1)

describe('trees that grow', () => {
  it('the path between two sizes is that of RFC 9162, at every pair of sizes, and shows that one begins with the other', () => {
    const wrong: string[] = []
    for (let newer = 1; newer <= SIZE; newer++) {
      for (let older = 1; older <= newer; older++) {
        const path = treeOf(newer).consistency(older)
        expect(path).toEqual(subproof(older, leaves.slice(0, newer), true).map((hash) => hash.toString('hex')))
        if (!areConsistent(headOf(older), headOf(newer), path)) wrong.push(`${older} of ${newer}`)
      }
      if (!areConsistent(headOf(0), headOf(newer), [])) wrong.push(`0 of ${newer}`)
    }
    expect(wrong).toEqual([])
    expect(areConsistent(headOf(0), headOf(0), [])).toBe(true)
  })

  it('no path leads from a tree of another size, with another leaf, or when a step is changed, missing or too much', () => {
    const wrong: string[] = []
    for (let newer = 2; newer <= 20; newer++) {
      for (let older = 1; older < newer; older++) {
        const path = treeOf(newer).consistency(older)
        const is = (what: string, good: boolean) => good && wrong.push(`${what}: ${older} of ${newer}`)
        for (let other = 0; other <= 20; other++) {
          if (other !== older) is(`as ${other}`, areConsistent({ ...headOf(older), size: other }, headOf(newer), path))
          // a wrong size of the newer tree with an equal way up is refused by the signature over it
        }
        const forged = leaves.with(older - 1, sha(Buffer.from('forged')))
        is('leaf', areConsistent(headOf(older, forged), headOf(newer), path))
        is('newer leaf', areConsistent(headOf(older), headOf(newer, forged), treeOf(newer, forged).consistency(older)))
        is('long', areConsistent(headOf(older), headOf(newer), [...path, '0'.repeat(64)]))
        for (let step = 0; step < path.length; step++) {
          is('short', areConsistent(headOf(older), headOf(newer), path.toSpliced(step, 1)))
          is('changed', areConsistent(headOf(older), headOf(newer), path.with(step, 'f'.repeat(64))))
        }
      }
      expect(areConsistent(headOf(newer), headOf(newer - 1), [])).toBe(false)
      expect(areConsistent(headOf(newer), headOf(newer), ['0'.repeat(64)])).toBe(false)
    }
    expect(wrong).toEqual([])
  })

  it('the right edge of a tree is enough to go on with it: at every size it has the root of the whole tree, stored or not', () => {
    let edge = new MerkleFrontier()
    for (let size = 0; size <= SIZE; size++) {
      expect([edge.size, edge.root]).toEqual([size, treeOf(size).root])
      const restored = MerkleFrontier.of(size, JSON.parse(JSON.stringify(edge.roots)))
      expect(restored?.root).toBe(edge.root)
      edge = restored as MerkleFrontier
      if (size < SIZE) edge.add(leaves[size] as Buffer)
    }
    for (const [size, roots] of [
      [1, []],
      [0, ['0'.repeat(64)]],
      [3, ['0'.repeat(64)]],
      [1, ['x']],
      [1, null],
      [-1, []],
      [0.5, []],
    ] as const)
      expect(MerkleFrontier.of(size, roots)).toBeUndefined()
  })
})

describe('a kept checkpoint against a newer one', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const signer = { id: 's', privateKey }
  const signed = (size: number, more: Partial<AuditCheckpoint> = {}): AuditCheckpoint =>
    signCheckpoint(
      { log: 'audit', ...headOf(size), hash: leaves[size - 1]?.toString('hex') ?? '0'.repeat(64), at: 1, ...more },
      signer,
    )
  const proofOf = (from: number, size: number): ConsistencyProof => ({
    v: 1,
    log: 'audit',
    from,
    newer: signed(size),
    path: treeOf(size).consistency(from),
  })

  it('fits at every pair of sizes, and says so', () => {
    for (let size = 0; size <= SIZE; size++)
      for (let from = 0; from <= size; from++)
        expect(verifyConsistency(signed(from), proofOf(from, size), { publicKey })).toMatchObject({
          ok: true,
          fault: null,
        })
    expect(verifyConsistency(signed(3), proofOf(3, 9), { publicKey }).statement).toBe(
      'The 9 entries of the newer checkpoint begin with the 3 of the kept one.',
    )
  })

  it('everything that is wrong with a proof is named, and nothing throws', () => {
    const proof = proofOf(5, 9)
    const other = generateKeyPairSync('ed25519')
    const faultOf = (kept: unknown, changed: unknown, options = {}) =>
      verifyConsistency(kept, changed, { publicKey, ...options }).fault
    expect(faultOf(signed(5), proof)).toBeNull()
    expect(faultOf(signed(5), proof, { publicKey: other.publicKey })).toContain('kept checkpoint is not signed')
    expect(faultOf(signed(5), proof, { publicKey: other.publicKey, keptPublicKey: publicKey })).toContain(
      'newer checkpoint is not',
    )
    expect(faultOf({ ...signed(5), root: signed(4).root }, proof)).toContain('kept checkpoint is not signed')
    expect(faultOf(signed(5), { ...proof, newer: { ...proof.newer, size: 8 } })).toContain(
      'newer checkpoint is not signed',
    )
    expect(faultOf(signed(5, { log: 'b' }), proof)).toContain('different logs')
    expect(faultOf(signed(5), { ...proof, newer: signed(9, { log: 'b' }) })).toContain('different logs')
    expect(faultOf(signed(4), proof)).toContain('another size')
    expect(faultOf(signed(4), { ...proof, from: 4 })).toContain('written anew')
    expect(faultOf(signed(9), { ...proofOf(5, 5), from: 9 })).toContain('fewer entries')
    expect(faultOf(signed(5), { ...proof, path: proof.path.toReversed() })).toContain('written anew')
    expect(faultOf(signed(5), { ...proof, path: ['x'] })).toContain('path is none')
    expect(faultOf(signed(5, { root: signed(6).root }), proof)).toContain('written anew')
    expect(faultOf(signed(0, { root: signed(6).root }), proofOf(0, 9))).toContain('no root')
    expect(faultOf(signed(9, { hash: 'f'.repeat(64) }), proofOf(9, 9))).toContain('different last entries')
    for (const junk of [null, 1, {}, { ...proof, v: 2 }, { ...proof, newer: null }, { ...proof, path: null }])
      expect(faultOf(signed(5), junk)).not.toBeNull()
    expect(faultOf(null, proof)).not.toBeNull()
  })
})
