import type { ErrorDialect } from '../shared/to-provider-error.js'
import type { Wire } from '../shared/wire-json.js'
import { wireName, wireObject, wireText } from '../shared/wire-json.js'

/**
 * Error codes and types of OpenAI and of servers that speak its protocols.
 * @see https://platform.openai.com/docs/guides/error-codes
 */
export const OPENAI_ERRORS: ErrorDialect = {
  known: {
    invalid_api_key: 'PROVIDER_AUTH',
    authentication_error: 'PROVIDER_AUTH',
    model_not_found: 'MODEL_NOT_FOUND',
    DeploymentNotFound: 'MODEL_NOT_FOUND',
    context_length_exceeded: 'CONTEXT_LENGTH_EXCEEDED',
    exceed_context_size_error: 'CONTEXT_LENGTH_EXCEEDED',
    content_filter: 'CONTENT_FILTERED',
    content_policy_violation: 'CONTENT_FILTERED',
    image_content_policy_violation: 'CONTENT_FILTERED',
    bio_policy: 'CONTENT_FILTERED',
    insufficient_quota: 'PROVIDER_RATE_LIMITED',
    rate_limit_exceeded: 'PROVIDER_RATE_LIMITED',
    rate_limit_error: 'PROVIDER_RATE_LIMITED',
    server_error: 'PROVIDER_OVERLOADED',
    overloaded_error: 'PROVIDER_OVERLOADED',
  },
  // the SDK keeps what stands under `error`; a fault of ours may hold either
  errorOf: (body) => withUpstream(body.error === undefined ? body : wireObject(body.error)),
}

/** OpenRouter says only that the provider behind it failed; what that one said stands in the metadata. */
function withUpstream(error: Wire): Wire {
  const { raw, provider_name: name } = wireObject(error.metadata)
  const said = wireName(raw)
  if (said === undefined) return error
  return { ...error, message: `${wireText(error.message)} (${wireName(name) ?? 'upstream'}: ${said})` }
}
