/** A promise that is settled from outside. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>
  readonly settled: boolean
  resolve(value: Value): void
  reject(reason: unknown): void
}

/** Makes a {@link Deferred}. A rejection that nobody awaits counts as handled. */
export function deferred<Value = void>(): Deferred<Value> {
  let settled = false
  let keep: (value: Value) => void = () => {}
  let fail: (reason: unknown) => void = () => {}
  const promise = new Promise<Value>((resolve, reject) => {
    keep = resolve
    fail = reject
  })
  promise.catch(() => {})
  return {
    promise,
    get settled() {
      return settled
    },
    resolve(value) {
      settled = true
      keep(value)
    },
    reject(reason) {
      settled = true
      fail(reason)
    },
  }
}
