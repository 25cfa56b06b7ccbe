import { boundText } from '../internal/bounded-text.js'
import type { JsonObject } from '../internal/json.js'
import type { ErrorCode } from './error-codes.js'
import { ERROR_CODES } from './error-codes.js'

const BRAND: unique symbol = Symbol.for('sluice.error') as never
const MAX_MESSAGE = 2048

/** What a failed run had until it ended; filled in by the runtime on every error that leaves `execute` or `generateText`. */
export interface PartialRun {
  readonly executionId?: string
  readonly usage: import('../messages/usage.js').Usage
  readonly messages: readonly import('../messages/message.js').Message[]
  readonly toolCalls: readonly ToolCallRecord[]
  readonly receipts: ReceiptCounts
}

/** One tool call of a run, as `run.toolCalls` lists it. */
export interface ToolCallRecord {
  readonly callId: string
  readonly toolCode: string
  readonly status: import('../messages/message.js').ToolStatus
  readonly errorReference?: string
}

/** Counts over the receipts of a tree, and the receipt of the effect that a stop ended. */
export interface ReceiptCounts {
  readonly effects: number
  readonly asked: number
  readonly passed: number
  readonly stopped: number
  readonly stop?: JsonObject
}

export interface SluiceErrorOptions {
  readonly cause?: unknown
  /** JSON-safe figures about the fault; no secrets, no live objects. */
  readonly details?: JsonObject
  /** What to do about it: a command or a line of code. */
  readonly hint?: string
  readonly retryable?: boolean
  /** A stable finer-grained reason below the code (X-W1), such as `follow_up.no_session`. */
  readonly reason?: string
}

/**
 * The one root of all errors that Sluice raises. `code` is stable and documented; `message` says what happened, to what,
 * and what to do. Recognise it with {@link SluiceError.isInstance}, which also works across two copies of the package.
 */
export class SluiceError<Code extends string = string> extends Error {
  readonly code: Code
  readonly details: JsonObject | undefined
  readonly hint: string | undefined
  readonly reason: string | undefined
  readonly retryable: boolean
  /** What the run had until it ended; set on errors that leave `execute`, `stream` and `generateText`. */
  partial: PartialRun | undefined

  constructor(code: Code, message: string, options: SluiceErrorOptions = {}) {
    // untyped code may leave the text out: that must not become another error
    const said = typeof message === 'string' ? message : ''
    const text = options.hint === undefined ? said : `${said}\n${options.hint}`
    super(
      text.length > MAX_MESSAGE ? `${boundText(text, MAX_MESSAGE - 1).text}…` : text,
      'cause' in options ? { cause: options.cause } : undefined,
    )
    this.code = code
    this.details = options.details
    this.hint = options.hint
    this.reason = options.reason
    const row = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : undefined
    this.retryable = options.retryable ?? row?.retryable ?? false
    Object.defineProperty(this, 'partial', { value: undefined, writable: true, enumerable: false, configurable: true })
    Object.defineProperty(this, BRAND, { value: true })
  }

  override get name(): string {
    return 'SluiceError'
  }

  /** True for every Sluice error, also one of another copy of the package; with `code`, only for that code. Never throws. */
  static isInstance<Code extends string>(error: unknown, code: Code): error is SluiceError<Code>
  static isInstance(error: unknown): error is SluiceError
  static isInstance(error: unknown, code?: string): boolean {
    return hasBrand(error, BRAND) && (code === undefined || (error as SluiceError).code === code)
  }

  /** Without stack and cause: safe to send to a client. */
  toJSON(): JsonObject {
    const json: Record<string, JsonObject[string]> = {
      name: this.name,
      code: this.code,
      message: this.message,
      retryable: this.retryable,
    }
    if (this.reason !== undefined) json.reason = this.reason
    if (this.details !== undefined) json.details = this.details
    return json
  }
}

/** Own-property brand check that survives proxies, primitives and accessors that throw. */
export function hasBrand(value: unknown, brand: symbol): boolean {
  if (value === null || typeof value !== 'object') return false
  try {
    return Object.hasOwn(value, brand) && (value as Record<symbol, unknown>)[brand] === true
  } catch {
    return false
  }
}
