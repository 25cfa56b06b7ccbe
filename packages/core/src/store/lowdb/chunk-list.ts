import type { Place } from './segment-lines.js'

/** A line with several items of one list, and how many. */
export interface Chunk extends Place {
  readonly count: number
}

/** Where the items of one list lie: rows of a session, receipts of a tree, entries of a stream. */
export class ChunkList {
  readonly #chunks: Chunk[] = []
  #count = 0

  /** How many items there are. */
  get count(): number {
    return this.#count
  }

  get last(): Chunk | undefined {
    return this.#chunks.at(-1)
  }

  get chunks(): readonly Chunk[] {
    return this.#chunks
  }

  add(chunk: Chunk): void {
    this.#chunks.push(chunk)
    this.#count += chunk.count
  }

  /** The chunks that hold the items from number `first` on, `limit` at most, and the number of the first item in them. */
  range(first: number, limit: number): { readonly chunks: readonly Chunk[]; readonly from: number } {
    let from = 0
    let index = 0
    for (; index < this.#chunks.length; index++) {
      const { count } = this.#chunks[index] as Chunk
      if (from + count > first) break
      from += count
    }
    let end = index
    for (let number = from; end < this.#chunks.length && number - first < limit; end++) {
      number += (this.#chunks[end] as Chunk).count
    }
    return { chunks: this.#chunks.slice(index, end), from }
  }
}

/** The list under a key; made where there is none. */
export function chunksOf(lists: Map<string, ChunkList>, key: string): ChunkList {
  let list = lists.get(key)
  if (list === undefined) {
    list = new ChunkList()
    lists.set(key, list)
  }
  return list
}
