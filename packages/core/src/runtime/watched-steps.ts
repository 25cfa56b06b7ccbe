import type { Recorded, Steps } from '../engine/engine.js'
import type { JsonValue, MaybePromise } from '../internal/json.js'

/** The steps of a run that goes on from a pause: they tell when one is run in place of being replayed. */
export class WatchedSteps implements Steps {
  readonly #steps: Steps
  readonly #onLive: () => void

  constructor(steps: Steps, onLive: () => void) {
    this.#steps = steps
    this.#onLive = onLive
  }

  get path(): string {
    return this.#steps.path
  }

  recorded(name: string): Recorded {
    return this.#steps.recorded(name)
  }

  step<Value>(name: string, fn: () => MaybePromise<Value>): Promise<Value> {
    return this.#steps.step(name, () => {
      this.#onLive()
      return fn()
    })
  }

  begin<Value extends JsonValue>(name: string, value: Value): MaybePromise<Value> {
    return this.#steps.begin(name, value)
  }

  attemptsBefore(name: string): number {
    return this.#steps.attemptsBefore(name)
  }

  close(name: string): MaybePromise<void> {
    return this.#steps.close(name)
  }

  branch<Value>(name: string, fn: (steps: Steps) => Promise<Value>): Promise<Value> {
    return this.#steps.branch(name, (steps) => fn(new WatchedSteps(steps, this.#onLive)))
  }

  replay<Value>(name: string): Promise<Value> {
    return this.#steps.replay<Value>(name)
  }

  waitFor(signal: string, timeoutMs?: number): Promise<JsonValue | undefined> {
    return this.#steps.waitFor(signal, timeoutMs)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#steps.sleep(ms, signal)
  }

  now(): MaybePromise<number> {
    return this.#steps.now()
  }

  id(): MaybePromise<string> {
    return this.#steps.id()
  }
}
