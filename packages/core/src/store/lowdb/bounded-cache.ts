interface Kept<Value> {
  readonly value: Value
  readonly bytes: number
}

/** The values used last, up to a number of bytes; the others are read again when they are asked for. */
export class BoundedCache<Value> {
  readonly #maxBytes: number
  readonly #kept = new Map<string, Kept<Value>>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  get(key: string): Value | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    // a map keeps the order of insertion: the one used last goes to its end
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    return kept.value
  }

  set(key: string, value: Value, bytes: number): void {
    this.delete(key)
    if (bytes > this.#maxBytes) return
    this.#kept.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    this.#bytes -= kept.bytes
  }
}
