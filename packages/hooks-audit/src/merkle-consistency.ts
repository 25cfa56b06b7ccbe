import { nodeHash } from './merkle-tree.js'

/** Size and root of a tree. */
export interface TreeHead {
  readonly size: number
  /** Hexadecimal. */
  readonly root: string
}

/** True where the path shows that the newer tree begins with the older one (RFC 9162, 2.1.4.2). */
export function areConsistent(older: TreeHead, newer: TreeHead, path: readonly string[]): boolean {
  if (older.size > newer.size) return false
  if (older.size === newer.size) return path.length === 0 && older.root === newer.root
  // the empty tree is the beginning of every other
  if (older.size === 0) return path.length === 0
  const steps = path.map((hash) => Buffer.from(hash, 'hex'))
  if (isPowerOfTwo(older.size)) steps.unshift(Buffer.from(older.root, 'hex'))
  const start = steps.shift()
  if (start === undefined) return false
  let first = older.size - 1
  let second = newer.size - 1
  const up = (): void => {
    first = Math.floor(first / 2)
    second = Math.floor(second / 2)
  }
  while (first % 2 === 1) up()
  let olderRoot: Buffer = start
  let newerRoot: Buffer = start
  for (const step of steps) {
    if (second === 0) return false
    if (first % 2 === 1 || first === second) {
      olderRoot = nodeHash(step, olderRoot)
      newerRoot = nodeHash(step, newerRoot)
      while (first % 2 === 0 && first !== 0) up()
    } else newerRoot = nodeHash(newerRoot, step)
    up()
  }
  return second === 0 && olderRoot.toString('hex') === older.root && newerRoot.toString('hex') === newer.root
}

function isPowerOfTwo(size: number): boolean {
  return Number.isInteger(Math.log2(size))
}
