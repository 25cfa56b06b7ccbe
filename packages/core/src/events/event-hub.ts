import { SluiceError } from '../errors/sluice-error.js'
import type { MaybePromise } from '../internal/json.js'
import type { RunEvent } from './run-event.js'

/** A callback for events. An error in it is logged, counted and swallowed unless the hub is fatal. */
export type EventCallback = (event: RunEvent) => MaybePromise<void>

/** Thrown out of a call by a fatal callback: carries the handler's own error. */
export class FatalCallback {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** The one primary callback of a runtime (E-1) and its `fatal` flag: `runtime.events`. */
export class EventHub {
  /** When true, the handler's own error ends the call (E-20). Reset by `runtime.reset()`. */
  fatal = false
  #callback: EventCallback | undefined

  /** Registers `callback` in place of the one before; `null` clears. Anything but a function is refused. */
  set(callback: EventCallback | null): void {
    if (callback === null) {
      this.#callback = undefined
      return
    }
    if (typeof callback !== 'function') {
      throw new SluiceError(
        'INVALID_CONFIG',
        `An event callback must be a function, not ${Array.isArray(callback) ? 'a list' : `a ${typeof callback}`}.`,
        {
          hint: 'Give a function, or null to clear it.',
          reason: 'events.callback',
        },
      )
    }
    this.#callback = callback
  }

  clear(): void {
    this.#callback = undefined
  }

  /** The current registration, `null` where there is none. */
  get callback(): EventCallback | null {
    return this.#callback ?? null
  }
}
