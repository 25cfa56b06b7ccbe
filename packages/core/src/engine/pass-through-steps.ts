import { journalMismatch } from './journal-mismatch.js'
import { delay } from '../internal/clock.js'
import type { Clock } from '../internal/clock.js'
import type { Ids } from '../internal/ids.js'
import type { JsonValue, MaybePromise } from '../internal/json.js'
import type { Recorded, Steps } from './engine.js'

/**
 * Steps that keep nothing: for calls that happen inside an effect (under a user's handler, in a gate) or outside any run,
 * where there is no journal to write to. Attempts are counted by the caller.
 */
export class PassThroughSteps implements Steps {
  readonly path: string
  readonly #clock: Clock
  readonly #ids: Ids

  constructor(path: string, clock: Clock, ids: Ids) {
    this.path = path
    this.#clock = clock
    this.#ids = ids
  }

  recorded(): Recorded {
    return 'nothing'
  }

  async step<Value>(_name: string, fn: () => MaybePromise<Value>): Promise<Value> {
    return fn()
  }

  begin<Value extends JsonValue>(_name: string, value: Value): Value {
    return value
  }

  attemptsBefore(): number {
    return 0
  }

  close(): void {
    // nothing is kept
  }

  branch<Value>(name: string, fn: (steps: Steps) => Promise<Value>): Promise<Value> {
    return fn(new PassThroughSteps(this.path === '' ? name : `${this.path}/${name}`, this.#clock, this.#ids))
  }

  async replay<Value>(name: string): Promise<Value> {
    throw journalMismatch(`There is no journal at ${this.path}, so "${name}" cannot be replayed.`)
  }

  async waitFor(): Promise<undefined> {
    return undefined
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return delay(this.#clock, ms, signal)
  }

  now(): number {
    return this.#clock.now()
  }

  id(): string {
    return this.#ids.id()
  }
}
