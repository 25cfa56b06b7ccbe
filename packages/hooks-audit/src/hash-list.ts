const BYTES = 32

/** A growing list of SHA-256 hashes, 32 bytes each. */
export class HashList {
  #bytes = Buffer.alloc(BYTES * 4)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(hash: string): void {
    if ((this.#length + 1) * BYTES > this.#bytes.length) {
      const larger = Buffer.alloc(this.#bytes.length * 2)
      this.#bytes.copy(larger)
      this.#bytes = larger
    }
    this.#bytes.write(hash, this.#length * BYTES, 'hex')
    this.#length += 1
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
}
