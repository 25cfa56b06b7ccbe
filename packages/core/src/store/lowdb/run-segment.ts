import type { JsonObject } from '../../internal/json.js'
import type { FolderState, Place } from './folder-state.js'
import { encodeLine } from './record-line.js'

/** Bytes from which on a run segment is left and the next one begun. */
const FULL_BYTES = 32 * 1024 * 1024

/** Lines that a checkpoint appends to the newest run segment: rows of executions, and receipts. */
export class RunSegment {
  readonly number: number
  /** Bytes that are finished already. */
  readonly start: number
  readonly #pieces: Buffer[] = []
  #end: number

  private constructor(number: number, start: number) {
    this.number = number
    this.start = start
    this.#end = start
    if (start === 0) this.#add(Buffer.from(encodeLine(JSON.stringify({ sluice: 'runs', number }))))
  }

  static next(state: FolderState): RunSegment {
    const number = Math.max(1, ...state.segments.keys())
    const bytes = state.segments.get(number) ?? 0
    return bytes < FULL_BYTES ? new RunSegment(number, bytes) : new RunSegment(number + 1, 0)
  }

  get end(): number {
    return this.#end
  }

  add(record: JsonObject): Place {
    const line = Buffer.from(encodeLine(JSON.stringify(record)))
    const from = this.#end
    this.#add(line)
    return { segment: this.number, from, bytes: line.length }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces)
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#end += piece.length
  }
}
