import type { JsonObject, ProviderErrorCode, ProviderErrorOptions } from '@sluice/core'
import { ERROR_CODES, ProviderError, SluiceError } from '@sluice/core'
import { AnswerTooLarge } from './bounded-answer.js'
import type { AnswerFacts, KnownCodes } from './failure-code.js'
import { failureCode, retryOverride } from './failure-code.js'
import { readNetworkFailure } from './network-failure.js'
import { redactSecrets, withoutSecrets } from './redact-secrets.js'
import { ReplyFault } from './reply-fault.js'
import type { ResponseHeaders } from './response-headers.js'
import { rateLimitHeaders, requestIdOf, retryAfterMs } from './response-headers.js'
import type { Wire } from './wire-json.js'
import { isWire, wireName, wireText } from './wire-json.js'

const LONGEST_TEXT = 500

/** What is different between the vendors' errors. */
export interface ErrorDialect {
  readonly known: KnownCodes
  /** The error object inside what the SDK kept of the answer's body. */
  errorOf(body: Wire): Wire
  /** Where the vendor's own word and its text together say more than either: asked first. */
  codeOf?(facts: AnswerFacts): ProviderErrorCode | undefined
  /** The wait that the error object itself asks for, in milliseconds; a longer one in the headers stands above it. */
  retryAfterMs?(error: Wire): number | undefined
}

/** Where the failure happened. */
export interface FailureContext {
  readonly provider: string
  readonly model: string
  readonly dialect: ErrorDialect
  readonly secrets: readonly string[]
  /** The response whose body was being read, where there was one. */
  readonly response?: { readonly status: number; readonly headers: ResponseHeaders } | undefined
  /** What a stream had delivered. */
  readonly partial?: ProviderErrorOptions['partial']
}

/**
 * Translates whatever an SDK or a reader threw into a `ProviderError`, once. Errors of our own that were raised before
 * anything was sent (configuration, content that the protocol cannot carry) pass unchanged.
 */
export function toProviderError(thrown: unknown, context: FailureContext): SluiceError {
  if (SluiceError.isInstance(thrown)) return thrown
  const large = tooLargeIn(thrown)
  if (large !== undefined) return tooLarge(large, context)
  const body = bodyOf(thrown)
  if (body !== undefined) return answerError(thrown, body, context)
  if (context.response !== undefined) return brokenReply(thrown, context)
  const network = readNetworkFailure(thrown)
  const reason = redactSecrets(network?.reason ?? messageOf(thrown), context.secrets).slice(0, LONGEST_TEXT)
  return new ProviderError(
    network?.code ?? 'PROVIDER_UNREACHABLE',
    network === undefined
      ? `The request to "${context.provider}" could not be made: ${reason}.`
      : `No answer from "${context.provider}" (${reason}). ${ERROR_CODES[network.code].remedy}`,
    {
      provider: context.provider,
      model: context.model,
      sent: network?.sent ?? 'no',
      ...(network === undefined ? { retryable: false } : {}),
      cause: withoutSecrets(network?.cause ?? thrown, context.secrets),
    },
  )
}

/** The error for a stream that ended, or failed, before its end event; `partial` holds what came before. */
export function brokenReply(thrown: unknown, context: FailureContext): ProviderError {
  const why = thrown === undefined ? 'it ended without its end event' : messageOf(thrown)
  const text = redactSecrets(why, context.secrets).slice(0, LONGEST_TEXT)
  return new ProviderError('PROVIDER_STREAM_BROKEN', `The reply of "${context.provider}" broke off: ${text}.`, {
    ...answerOptions(context, context.response),
    sent: 'yes',
    ...(thrown === undefined ? {} : { cause: withoutSecrets(thrown, context.secrets) }),
  })
}

/** SDKs put what they meet into errors of their own. */
function tooLargeIn(thrown: unknown): AnswerTooLarge | undefined {
  if (thrown instanceof AnswerTooLarge) return thrown
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return cause instanceof AnswerTooLarge ? cause : undefined
}

function tooLarge(cause: AnswerTooLarge, context: FailureContext): ProviderError {
  const code = 'PROVIDER_RESPONSE_TOO_LARGE'
  const said = `The answer of "${context.provider}" is longer than ${cause.most} bytes and was given up.`
  return new ProviderError(code, `${said} ${ERROR_CODES[code].remedy}`, {
    ...answerOptions(context, context.response),
    sent: 'yes',
    details: { mostBytes: cause.most },
    cause,
  })
}

/** True where `thrown` is something that the provider said, and not the way to it that broke. */
export function isAnswer(thrown: unknown): boolean {
  return bodyOf(thrown) !== undefined
}

/** What the provider said, where `thrown` holds an answer of it; `undefined` where nothing was answered. */
function bodyOf(thrown: unknown): Wire | undefined {
  if (thrown instanceof ReplyFault) return thrown.body
  if (!(thrown instanceof Error)) return undefined
  const { status, error } = thrown as { status?: unknown; error?: unknown }
  if (isWire(error)) return error
  if (typeof error === 'string') return { message: error }
  return typeof status === 'number' ? {} : undefined
}

function answerError(thrown: unknown, body: Wire, context: FailureContext): ProviderError {
  const error = context.dialect.errorOf(body)
  const response = thrown instanceof ReplyFault ? undefined : answerOf(thrown)
  const facts = factsOf(thrown, error, response?.status ?? unusableStatus(thrown, body, context))
  const code = context.dialect.codeOf?.(facts) ?? failureCode(facts, context.dialect.known)
  const headers = response?.headers ?? context.response?.headers
  // the header of an answer with status 200 speaks of the next request, not of the error in its stream
  const asked = headers === undefined || response?.status === undefined ? undefined : retryAfterMs(headers)
  const wait = longer(asked, context.dialect.retryAfterMs?.(error))
  const retryable = retryOverride(facts, response?.headers?.get('x-should-retry') ?? null)
  const requestId = wireName(body.request_id)
  return new ProviderError(code, errorText(facts, code, context), {
    ...answerOptions(context, { status: facts.status, headers }),
    ...(requestId === undefined ? {} : { requestId }),
    sent: 'yes',
    ...(retryable === undefined ? {} : { retryable }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    details: errorDetails(facts, error, context.secrets),
    cause: withoutSecrets(thrown, context.secrets),
  })
}

function longer(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return Math.max(left, right)
}

function unusableStatus(thrown: unknown, body: Wire, context: FailureContext): number | undefined {
  return thrown instanceof ReplyFault && Object.keys(body).length === 0 ? context.response?.status : undefined
}

function answerOf(thrown: unknown): { status: number | undefined; headers: ResponseHeaders | undefined } {
  const { status, headers } = thrown as { status?: unknown; headers?: unknown }
  return {
    status: typeof status === 'number' ? status : undefined,
    headers: headers instanceof Headers ? headers : undefined,
  }
}

function factsOf(thrown: unknown, error: Wire, status: number | undefined): AnswerFacts {
  // an error object inside a 200 answer may carry the status it stands for as its code
  const inner = typeof error.code === 'number' && error.code >= 400 && error.code < 600 ? error.code : undefined
  return {
    status: status ?? inner,
    code: typeof error.code === 'number' ? String(error.code) : wireText(error.code),
    type: wireText(error.type),
    message: wireText(error.message) || messageOf(thrown),
  }
}

function errorText(facts: AnswerFacts, code: ProviderError['code'], context: FailureContext): string {
  const said = redactSecrets(facts.message, context.secrets).slice(0, LONGEST_TEXT)
  const status = facts.status === undefined ? 'an error' : String(facts.status)
  return `"${context.provider}" answered ${status} for model "${context.model}": ${said}. ${ERROR_CODES[code].remedy}`
}

function errorDetails(facts: AnswerFacts, error: Wire, secrets: readonly string[]): JsonObject {
  const details: Record<string, string> = {}
  if (facts.code !== '') details.providerCode = redactSecrets(facts.code, secrets)
  if (facts.type !== '') details.providerType = redactSecrets(facts.type, secrets)
  const parameter = wireName(error.param)
  if (parameter !== undefined) details.parameter = redactSecrets(parameter, secrets)
  return details
}

function answerOptions(
  context: FailureContext,
  response: { status: number | undefined; headers: ResponseHeaders | undefined } | undefined,
): Omit<ProviderErrorOptions, 'cause'> {
  const requestId = response?.headers === undefined ? undefined : requestIdOf(response.headers)
  const rateLimit = response?.headers === undefined ? undefined : rateLimitHeaders(response.headers)
  return {
    provider: context.provider,
    model: context.model,
    ...(response?.status === undefined ? {} : { status: response.status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(context.partial === undefined ? {} : { partial: context.partial }),
  }
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message
  return typeof thrown === 'string' ? thrown : 'an unknown failure'
}
