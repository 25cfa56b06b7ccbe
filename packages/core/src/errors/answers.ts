import type { JsonObject } from '../internal/json.js'
import { hasBrand, SluiceError } from './sluice-error.js'

const VETO: unique symbol = Symbol.for('sluice.veto') as never
const REFUSAL: unique symbol = Symbol.for('sluice.refusal') as never
const PAUSE: unique symbol = Symbol.for('sluice.pause') as never
const WAIT: unique symbol = Symbol.for('sluice.wait') as never
const LAND: unique symbol = Symbol.for('sluice.land') as never

/** Who gave an answer: the plugin (with its instance id, if any) and the hook point. Set by the runtime. */
export interface AnswerOrigin {
  readonly plugin: string
  readonly point: string
}

/**
 * Thrown by a gate (or a tool handler) to end the run. The caller of `execute` gets it; the model never sees it.
 * `code` and `reason` are the plugin's own; `details` is JSON: figures, `retryAfterMs`.
 */
export class Veto extends SluiceError {
  /** Who stopped the run; absent until the runtime has taken the answer. */
  readonly by: AnswerOrigin | undefined

  constructor(code: string, reason: string, details?: JsonObject, origin?: { by: AnswerOrigin; cause?: unknown }) {
    super(code, reason, {
      ...(details === undefined ? {} : { details }),
      ...(origin?.cause === undefined ? {} : { cause: origin.cause }),
    })
    this.by = origin?.by
    Object.defineProperty(this, VETO, { value: true })
  }

  override get name(): string {
    return 'Veto'
  }

  static override isInstance(error: unknown, code?: string): error is Veto {
    return hasBrand(error, VETO) && (code === undefined || (error as Veto).code === code)
  }
}

/** Thrown by a gate to refuse one tool call or one reply: the model reads `text` and the run goes on. */
export class Refusal extends SluiceError {
  /** What the model reads. */
  readonly text: string

  constructor(code: string, text: string) {
    super(code, text)
    this.text = text
    Object.defineProperty(this, REFUSAL, { value: true })
  }

  override get name(): string {
    return 'Refusal'
  }

  static override isInstance(error: unknown, code?: string): error is Refusal {
    return hasBrand(error, REFUSAL) && (code === undefined || (error as Refusal).code === code)
  }
}

/** Thrown by `inspectToolInput` to have a human decide: the run is stored and `execute` returns `status: 'paused'`. */
export class Pause extends SluiceError {
  /** Milliseconds since the epoch after which no answer counts as a denial; absent: never. */
  readonly expiresAt: number | undefined

  constructor(code: string, options: { expiresAt?: number; details?: JsonObject } = {}) {
    super(code, `A human has to decide (${code}).`, options.details === undefined ? {} : { details: options.details })
    this.expiresAt = options.expiresAt
    Object.defineProperty(this, PAUSE, { value: true })
  }

  override get name(): string {
    return 'Pause'
  }

  static override isInstance(error: unknown, code?: string): error is Pause {
    return hasBrand(error, PAUSE) && (code === undefined || (error as Pause).code === code)
  }
}

/** Thrown by a gate before an effect: wait `ms` milliseconds (within the run's `maxWaitMs`), then ask all gates again. */
export class Wait extends SluiceError {
  readonly ms: number

  constructor(code: string, ms: number) {
    super(code, `Wait ${ms} ms (${code}).`, { details: { retryAfterMs: ms } })
    this.ms = ms
    Object.defineProperty(this, WAIT, { value: true })
  }

  override get name(): string {
    return 'Wait'
  }

  static override isInstance(error: unknown, code?: string): error is Wait {
    return hasBrand(error, WAIT) && (code === undefined || (error as Wait).code === code)
  }
}

/** Thrown by `beforeModelCall`: one last request without tools and with at most `maxOutputTokens`, then the run ends `landed`. */
export class Land extends SluiceError {
  readonly maxOutputTokens: number | undefined

  constructor(code: string, options: { maxOutputTokens?: number } = {}) {
    super(code, `Land the run (${code}).`)
    this.maxOutputTokens = options.maxOutputTokens
    Object.defineProperty(this, LAND, { value: true })
  }

  override get name(): string {
    return 'Land'
  }

  static override isInstance(error: unknown, code?: string): error is Land {
    return hasBrand(error, LAND) && (code === undefined || (error as Land).code === code)
  }
}

/** A gate that failed instead of answering: it stops the run. `cause` is the value that was thrown or returned. */
export class HookFailedError extends SluiceError<'HOOK_FAILED'> {
  readonly by: AnswerOrigin
  readonly failure: 'threw' | 'timed_out' | 'returned_value' | 'wrong_answer' | 'not_callable'

  constructor(by: AnswerOrigin, failure: HookFailedError['failure'], message: string, cause: unknown) {
    super('HOOK_FAILED', message, { cause, details: { plugin: by.plugin, point: by.point, failure } })
    this.by = by
    this.failure = failure
  }

  override get name(): string {
    return 'HookFailedError'
  }

  static override isInstance(error: unknown): error is HookFailedError {
    return SluiceError.isInstance(error, 'HOOK_FAILED')
  }
}
