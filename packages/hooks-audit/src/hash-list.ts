const BYTES = 32

/** A growing list of SHA-256 hashes, 32 bytes each. */
export class HashList {
  #bytes: Buffer
  #length: number

  /** @param bytes hashes to begin with; they are not copied, and never written to */
  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#length = bytes.length / BYTES
  }

  get length(): number {
    return this.#length
  }

  push(hash: string): void {
    this.#reserve(1)
    this.#bytes.write(hash, this.#length * BYTES, 'hex')
    this.#length += 1
  }

  /** Adds all hashes of another list. */
  append(other: HashList): void {
    this.#reserve(other.#length)
    other.#bytes.copy(this.#bytes, this.#length * BYTES, 0, other.#length * BYTES)
    this.#length += other.#length
  }

  /** The hash at a place, hexadecimal; `undefined` beyond the end. */
  at(index: number): string | undefined {
    return index < 0 || index >= this.#length
      ? undefined
      : this.#bytes.toString('hex', index * BYTES, (index + 1) * BYTES)
  }

  /** The 32 bytes at a place that there is. */
  bytesAt(index: number): Buffer {
    return this.#bytes.subarray(index * BYTES, (index + 1) * BYTES)
  }

  /** The hashes from `from` up to `to`, without a copy. */
  slice(from: number, to: number): HashList {
    return new HashList(this.#bytes.subarray(from * BYTES, Math.min(to, this.#length) * BYTES))
  }

  #reserve(more: number): void {
    const wanted = (this.#length + more) * BYTES
    if (wanted <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(wanted, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length * BYTES)
    this.#bytes = larger
  }
}
