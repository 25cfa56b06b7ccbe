import { HookFailedError, Land, Pause, Refusal, Veto, Wait } from '../errors/answers.js'
import type { AnswerOrigin } from '../errors/answers.js'
import { ProviderError } from '../errors/provider-error.js'
import type { ProviderErrorCode } from '../errors/provider-error.js'
import { SluiceError } from '../errors/sluice-error.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { RateLimitHeaders } from '../messages/rate-limit-headers.js'

/**
 * The one codec of step results and errors. A value must be plain JSON data (`undefined` counts as absent); an error becomes
 * JSON from which an error of the same class, code and figures is made again.
 */
export function encodeValue(name: string, value: unknown): JsonValue | undefined {
  if (value === undefined) return undefined
  const plain = dropUndefined(value)
  if (!isPlainJson(plain, 200)) {
    throw new SluiceError(
      'STORE_VALUE_INVALID',
      `The result of step "${name}" is not plain JSON data, so it cannot be kept.`,
      {
        hint: 'Return strings, finite numbers, booleans, null, arrays and plain objects.',
        details: { step: name },
      },
    )
  }
  return plain
}

/** A copy without keys whose value is `undefined`, as `JSON.stringify` would leave them out. */
function dropUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : dropUndefined(item)))
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined)
      Object.defineProperty(copy, key, {
        value: dropUndefined(value[key]),
        enumerable: true,
        writable: true,
        configurable: true,
      })
  }
  return copy
}

/** An error, or whatever was thrown, as JSON. */
export function encodeError(error: unknown): JsonObject {
  if (Veto.isInstance(error))
    return {
      ...common('Veto', error),
      ...(error.by === undefined ? {} : { by: { plugin: error.by.plugin, point: error.by.point } }),
    }
  if (HookFailedError.isInstance(error)) {
    return {
      ...common('HookFailedError', error),
      by: { plugin: error.by.plugin, point: error.by.point },
      failure: error.failure,
      cause: causeOf(error),
    }
  }
  if (Refusal.isInstance(error)) return { ...common('Refusal', error), text: error.text }
  if (Pause.isInstance(error))
    return { ...common('Pause', error), ...(error.expiresAt === undefined ? {} : { expiresAt: error.expiresAt }) }
  if (Wait.isInstance(error)) return { ...common('Wait', error), ms: error.ms }
  if (Land.isInstance(error))
    return {
      ...common('Land', error),
      ...(error.maxOutputTokens === undefined ? {} : { maxOutputTokens: error.maxOutputTokens }),
    }
  if (ProviderError.isInstance(error)) {
    const json: Record<string, JsonValue> = {
      ...common('ProviderError', error),
      provider: error.provider,
      sent: error.sent,
    }
    if (error.model !== undefined) json.model = error.model
    if (error.status !== undefined) json.status = error.status
    if (error.retryAfterMs !== undefined) json.retryAfterMs = error.retryAfterMs
    if (error.requestId !== undefined) json.requestId = error.requestId
    if (error.rateLimit !== undefined) json.rateLimit = error.rateLimit
    return json
  }
  if (SluiceError.isInstance(error)) return common('SluiceError', error)
  if (error instanceof Error) return { kind: 'Error', name: error.name, message: error.message }
  return isPlainJson(error) ? { kind: 'value', value: error } : { kind: 'value', value: safeText(error) }
}

function common(kind: string, error: SluiceError): Record<string, JsonValue> {
  const json: Record<string, JsonValue> = { kind, code: error.code, message: error.message, retryable: error.retryable }
  if (error.reason !== undefined) json.reason = error.reason
  if (error.details !== undefined && isPlainJson(error.details)) json.details = error.details
  return json
}

function causeOf(error: Error): JsonValue {
  return error.cause === undefined ? null : encodeError(error.cause)
}

function safeText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'a value that cannot be shown'
  }
}

/** The error that {@link encodeError} made JSON of: `Veto`, `ProviderError` and the others come back as themselves. */
export function decodeError(json: JsonValue): unknown {
  const fields = json as Readonly<Record<string, JsonValue>>
  const message = String(fields.message)
  const code = String(fields.code)
  const details = fields.details as JsonObject | undefined
  const options = {
    ...(details === undefined ? {} : { details }),
    ...(fields.reason === undefined ? {} : { reason: String(fields.reason) }),
    retryable: fields.retryable === true,
  }
  switch (fields.kind) {
    case 'Veto':
      return new Veto(
        code,
        message,
        details,
        fields.by === undefined ? undefined : { by: fields.by as unknown as AnswerOrigin },
      )
    case 'HookFailedError':
      return new HookFailedError(
        fields.by as unknown as AnswerOrigin,
        fields.failure as HookFailedError['failure'],
        message,
        fields.cause === null ? undefined : decodeError(fields.cause as JsonValue),
      )
    case 'Refusal':
      return new Refusal(code, String(fields.text))
    case 'Pause':
      return new Pause(code, {
        ...(fields.expiresAt === undefined ? {} : { expiresAt: Number(fields.expiresAt) }),
        ...(details === undefined ? {} : { details }),
      })
    case 'Wait':
      return new Wait(code, Number(fields.ms))
    case 'Land':
      return new Land(
        code,
        fields.maxOutputTokens === undefined ? {} : { maxOutputTokens: Number(fields.maxOutputTokens) },
      )
    case 'ProviderError':
      return new ProviderError(code as ProviderErrorCode, message, {
        ...options,
        provider: String(fields.provider),
        sent: fields.sent as 'no' | 'yes' | 'unknown',
        ...(fields.model === undefined ? {} : { model: String(fields.model) }),
        ...(fields.status === undefined ? {} : { status: Number(fields.status) }),
        ...(fields.retryAfterMs === undefined ? {} : { retryAfterMs: Number(fields.retryAfterMs) }),
        ...(fields.requestId === undefined ? {} : { requestId: String(fields.requestId) }),
        ...(fields.rateLimit === undefined ? {} : { rateLimit: fields.rateLimit as RateLimitHeaders }),
      })
    case 'SluiceError':
      return new SluiceError(code, message, options)
    case 'Error': {
      const error = new Error(message)
      error.name = String(fields.name)
      return error
    }
    default:
      return fields.value
  }
}
