import type { ProviderErrorCode } from '@sluice/core'

/** What is known of an error answer. */
export interface AnswerFacts {
  readonly status: number | undefined
  /** The provider's own code and type, as text. */
  readonly code: string
  readonly type: string
  readonly message: string
}

const TOO_LONG =
  /context (length|window|size|limit)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (model's )?(maximum|available) /i
/** Within one sentence; a dot inside of a name (`qwen3.6:latest`) ends none. */
const NO_MODEL = /\bmodel\b(?:[^.]|\.(?=\S))*\b(not exist|not found|not available|unknown)|^model: |not a valid model/i
const NO_KEY = /\b(incorrect|invalid) api key\b/i

/** Codes and types of the provider that decide by themselves. */
export type KnownCodes = Readonly<Record<string, ProviderErrorCode>>

/** Which of our codes an error answer is: the provider's own word first, then what its text says, then the status. */
export function failureCode(facts: AnswerFacts, known: KnownCodes): ProviderErrorCode {
  const { status, code, type, message } = facts
  if (Object.hasOwn(known, code)) return known[code] as ProviderErrorCode
  if (Object.hasOwn(known, type)) return known[type] as ProviderErrorCode
  if ((status === undefined || status === 400 || status === 413 || status === 422) && TOO_LONG.test(message)) {
    return 'CONTEXT_LENGTH_EXCEEDED'
  }
  if ((status === 404 || status === 400) && NO_MODEL.test(message)) return 'MODEL_NOT_FOUND'
  // not every server answers 401
  if (status === 400 && NO_KEY.test(message)) return 'PROVIDER_AUTH'
  return byStatus(status)
}

function byStatus(status: number | undefined): ProviderErrorCode {
  if (status === undefined) return 'PROVIDER_RESPONSE_ERROR'
  if (status === 401 || status === 403) return 'PROVIDER_AUTH'
  if (status === 408) return 'PROVIDER_TIMEOUT'
  if (status === 413) return 'CONTEXT_LENGTH_EXCEEDED'
  if (status === 429) return 'PROVIDER_RATE_LIMITED'
  if (status === 504) return 'PROVIDER_TIMEOUT'
  return status >= 500 ? 'PROVIDER_OVERLOADED' : 'PROVIDER_RESPONSE_ERROR'
}

/**
 * Whether the same request may succeed later, where that differs from what the code says: the provider's own header
 * decides, then a quota that is used up, a lock, and what a server will never learn.
 */
export function retryOverride(facts: AnswerFacts, shouldRetry: string | null): boolean | undefined {
  if (shouldRetry === 'true') return true
  if (shouldRetry === 'false') return false
  if (facts.code === 'insufficient_quota' || facts.type === 'insufficient_quota') return false
  if (facts.status === 409) return true
  if (facts.status === 501 || facts.status === 505) return false
  return undefined
}
