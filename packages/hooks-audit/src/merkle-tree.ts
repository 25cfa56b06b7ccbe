import { createHash } from 'node:crypto'
import type { HashList } from './hash-list.js'

const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])
const BYTES = 32

/**
 * The Merkle tree of RFC 9162 over the hashes of the entries of a log: a leaf is SHA-256 of 0x00 and the 32 bytes of the hash,
 * a node that of 0x01 and its two children.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9162#section-2.1
 */
export class MerkleTree {
  /** From the leaves to the root; an odd last one stands in the next level as it is. */
  readonly #levels: Buffer[]
  readonly size: number

  /** @param size the first so many hashes; default all */
  constructor(hashes: HashList, size = hashes.length) {
    this.size = size
    let level = Buffer.alloc(size * BYTES)
    for (let index = 0; index < size; index++) leafHash(hashes.bytesAt(index)).copy(level, index * BYTES)
    this.#levels = [level]
    while (level.length > BYTES) {
      const count = level.length / BYTES
      const next = Buffer.alloc(Math.ceil(count / 2) * BYTES)
      for (let index = 0; index < count; index += 2) {
        const left = nodeAt(level, index)
        const node = index + 1 < count ? nodeHash(left, nodeAt(level, index + 1)) : left
        node.copy(next, (index / 2) * BYTES)
      }
      this.#levels.push(next)
      level = next
    }
  }

  /** The root, hexadecimal; SHA-256 of nothing for the empty tree. */
  get root(): string {
    if (this.size === 0) return createHash('sha256').digest('hex')
    return (this.#levels.at(-1) as Buffer).toString('hex')
  }

  /** The inclusion path of a leaf, from its sibling up, hexadecimal. */
  path(leaf: number): string[] {
    const path: string[] = []
    let index = leaf
    for (const level of this.#levels) {
      const sibling = index ^ 1
      if (sibling < level.length / BYTES) path.push(nodeAt(level, sibling).toString('hex'))
      index >>= 1
    }
    return path
  }

  /** What shows that this tree begins with the tree of its first `size` leaves (RFC 9162, 2.1.4.1), hexadecimal. */
  consistency(size: number): string[] {
    const path: string[] = []
    if (size <= 0 || size >= this.size) return path
    let from = 0
    let to = this.size
    let known = true
    while (size !== to) {
      const middle = from + split(to - from)
      if (size <= middle) {
        path.push(this.#rootOf(middle, to))
        to = middle
      } else {
        path.push(this.#rootOf(from, middle))
        from = middle
        known = false
      }
    }
    if (!known) path.push(this.#rootOf(from, to))
    return path.reverse()
  }

  /** The root of a whole subtree, or of one at the right edge: both stand in the level of their height. */
  #rootOf(from: number, to: number): string {
    const height = Math.ceil(Math.log2(to - from))
    return nodeAt(this.#levels[height] as Buffer, from / 2 ** height).toString('hex')
  }
}

/** The largest power of two below a count of at least two. */
function split(count: number): number {
  return 2 ** Math.ceil(Math.log2(count) - 1)
}

/** The root that an inclusion path leads to (RFC 9162, 2.1.3.2); `undefined` where the path does not fit the place. */
export function rootOf(hash: string, leaf: number, size: number, path: readonly string[]): string | undefined {
  if (!Number.isSafeInteger(leaf) || !Number.isSafeInteger(size) || leaf < 0 || leaf >= size) return undefined
  let first = leaf
  let last = size - 1
  let node = leafHash(Buffer.from(hash, 'hex'))
  for (const step of path) {
    if (last === 0) return undefined
    const sibling = Buffer.from(step, 'hex')
    if (first % 2 === 1 || first === last) {
      node = nodeHash(sibling, node)
      while (first % 2 === 0 && first !== 0) {
        first = Math.floor(first / 2)
        last = Math.floor(last / 2)
      }
    } else node = nodeHash(node, sibling)
    first = Math.floor(first / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? node.toString('hex') : undefined
}

function nodeAt(level: Buffer, index: number): Buffer {
  return level.subarray(index * BYTES, (index + 1) * BYTES)
}

/** Hash of a leaf. */
export function leafHash(data: Buffer): Buffer {
  return createHash('sha256').update(LEAF).update(data).digest()
}

/** Hash of a node with two children. */
export function nodeHash(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(NODE).update(left).update(right).digest()
}
