import { createHash } from 'node:crypto'
import { leafHash, nodeHash } from './merkle-tree.js'
import { isHash } from './read-entry.js'

/**
 * The right edge of a Merkle tree (RFC 9162): the roots of its whole subtrees, largest first. It is all that is needed to add
 * leaves and to tell the root, and has at most one hash per binary digit of the size.
 */
export class MerkleFrontier {
  readonly #roots: Buffer[] = []
  #size = 0

  /** The frontier that was stored as `roots`; `undefined` where they are not those of a tree of this size. */
  static of(size: number, roots: unknown): MerkleFrontier | undefined {
    if (!Number.isSafeInteger(size) || size < 0 || !Array.isArray(roots) || !roots.every(isHash)) return undefined
    if (roots.length !== size.toString(2).replaceAll('0', '').length) return undefined
    const frontier = new MerkleFrontier()
    frontier.#size = size
    frontier.#roots.push(...roots.map((root) => Buffer.from(root, 'hex')))
    return frontier
  }

  get size(): number {
    return this.#size
  }

  /** The roots of the subtrees, hexadecimal, as `of` reads them. */
  get roots(): string[] {
    return this.#roots.map((root) => root.toString('hex'))
  }

  /** The root of the whole tree, hexadecimal. */
  get root(): string {
    if (this.#size === 0) return createHash('sha256').digest('hex')
    return this.#roots.reduceRight((right, left) => nodeHash(left, right)).toString('hex')
  }

  /** @param hash the 32 bytes of the hash of the next entry */
  add(hash: Buffer): void {
    let node = leafHash(hash)
    for (let rest = this.#size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      node = nodeHash(this.#roots.pop() as Buffer, node)
    }
    this.#roots.push(node)
    this.#size += 1
  }
}
