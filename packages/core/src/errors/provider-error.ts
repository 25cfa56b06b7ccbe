import type { JsonObject } from '../internal/json.js'
import type { AssistantPart } from '../messages/message.js'
import type { RateLimitHeaders } from '../messages/rate-limit-headers.js'
import type { Usage } from '../messages/usage.js'
import { hasBrand, SluiceError } from './sluice-error.js'

const PROVIDER: unique symbol = Symbol.for('sluice.provider-error') as never

/** Codes of provider failures. */
export type ProviderErrorCode =
  | 'PROVIDER_RESPONSE_ERROR' // an error answer, or a reply that cannot be used (-20302)
  | 'PROVIDER_AUTH' // 401, 403
  | 'PROVIDER_RATE_LIMITED' // 429
  | 'PROVIDER_OVERLOADED' // 5xx, 529
  | 'PROVIDER_TIMEOUT'
  | 'PROVIDER_UNREACHABLE' // no answer: refused, reset, DNS
  | 'PROVIDER_STREAM_BROKEN' // the stream ended before its end
  | 'PROVIDER_RESPONSE_TOO_LARGE' // the body is longer than what is read
  | 'MODEL_NOT_FOUND' // -20305
  | 'CONTEXT_LENGTH_EXCEEDED'
  | 'CONTENT_FILTERED'

export interface ProviderErrorOptions {
  readonly provider: string
  readonly model?: string
  readonly status?: number
  readonly retryable?: boolean
  /** Milliseconds that the provider asked to wait. */
  readonly retryAfterMs?: number
  readonly requestId?: string
  /** Rate-limit headers of the answer, which a failed call has too. */
  readonly rateLimit?: RateLimitHeaders
  readonly cause?: unknown
  readonly details?: JsonObject
  /** Whether the request can have reached the provider: decides `sent` of the closing observer. */
  readonly sent?: 'no' | 'yes' | 'unknown'
  /** What a broken stream had delivered. */
  readonly partial?: { readonly parts: readonly AssistantPart[]; readonly usage: Usage | null; readonly model?: string }
}

/** Something went wrong at a provider, translated once by its adapter. */
export class ProviderError extends SluiceError<ProviderErrorCode> {
  readonly provider: string
  readonly model: string | undefined
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly requestId: string | undefined
  readonly rateLimit: RateLimitHeaders | undefined
  readonly sent: 'no' | 'yes' | 'unknown'
  /** What a broken stream had delivered before it broke. */
  readonly delivered: ProviderErrorOptions['partial']

  constructor(code: ProviderErrorCode, message: string, options: ProviderErrorOptions) {
    const details: Record<string, JsonObject[string]> = { provider: options.provider, ...options.details }
    if (options.model !== undefined) details.model = options.model
    if (options.status !== undefined) details.status = options.status
    if (options.retryAfterMs !== undefined) details.retryAfterMs = options.retryAfterMs
    if (options.requestId !== undefined) details.requestId = options.requestId
    super(code, message, {
      details,
      ...(options.retryable === undefined ? {} : { retryable: options.retryable }),
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    })
    this.provider = options.provider
    this.model = options.model
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
    this.requestId = options.requestId
    this.rateLimit = options.rateLimit === undefined ? undefined : Object.freeze({ ...options.rateLimit })
    this.sent = options.sent ?? 'unknown'
    Object.defineProperty(this, 'delivered', { value: options.partial, enumerable: false })
    Object.defineProperty(this, PROVIDER, { value: true })
  }

  override get name(): string {
    return 'ProviderError'
  }

  static override isInstance(error: unknown, code?: string): error is ProviderError {
    return hasBrand(error, PROVIDER) && (code === undefined || (error as ProviderError).code === code)
  }
}
