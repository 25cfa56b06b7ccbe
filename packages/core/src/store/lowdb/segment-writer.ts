import type { JsonObject } from '../../internal/json.js'
import type { Chunk } from './chunk-list.js'
import { encodeLine } from './record-line.js'
import type { Place } from './segment-lines.js'

/** Bytes of JSON after which a line of several items ends: so that reading one item never reads much more. */
const CHUNK_BYTES = 65_536

/** What a checkpoint appends to the newest segment. */
export class SegmentWriter {
  readonly number: number
  /** Bytes that are finished already. */
  readonly start: number
  readonly #pieces: Buffer[] = []
  #end: number

  /** Goes on behind the finished bytes of the newest of `segments` (number to bytes); begins the next one when it is full. */
  constructor(segments: ReadonlyMap<number, number>, fullBytes: number) {
    const newest = Math.max(1, ...segments.keys())
    const bytes = segments.get(newest) ?? 0
    const isFull = bytes >= fullBytes
    this.number = isFull ? newest + 1 : newest
    this.start = isFull ? 0 : bytes
    this.#end = this.start
    if (this.start === 0) this.#append(encodeLine(JSON.stringify({ sluice: 'segment', number: this.number })))
  }

  get end(): number {
    return this.#end
  }

  add(record: JsonObject): Place {
    return this.#line(JSON.stringify(record))
  }

  /** Items of one list under a tag that says of which, in as many lines as their size asks for. */
  addItems(tag: string, id: string, items: readonly unknown[]): Chunk[] {
    const chunks: Chunk[] = []
    let texts: string[] = []
    let size = 0
    const flush = () => {
      const line = this.#line(`{"${tag}":${JSON.stringify(id)},"items":[${texts.join(',')}]}`)
      chunks.push({ ...line, count: texts.length })
      texts = []
      size = 0
    }
    for (const item of items) {
      const text = JSON.stringify(item)
      texts.push(text)
      size += text.length
      if (size >= CHUNK_BYTES) flush()
    }
    if (texts.length > 0) flush()
    return chunks
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces)
  }

  #line(json: string): Place {
    const from = this.#end
    this.#append(encodeLine(json))
    return { segment: this.number, from, bytes: this.#end - from }
  }

  #append(text: string): void {
    const piece = Buffer.from(text)
    this.#pieces.push(piece)
    this.#end += piece.length
  }
}
