import type { JsonObject, ModelRequest } from '@sluice/core'
import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import type { RawOptionRules } from '../shared/raw-options.js'
import { mergeRawOptions } from '../shared/raw-options.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire } from '../shared/wire-json.js'

const ONE = { instead: 'One reply is asked for; the output cap holds for it alone.', allowed: 1 }

const RULES: RawOptionRules = {
  protocol: GOOGLE_GENERATE_CONTENT.protocol,
  hosted: new Set(['tools']),
  owned: {
    model: { instead: 'Use `model`.' },
    contents: { instead: 'Use `messages`.' },
    systemInstruction: { instead: 'Use a system message.' },
    'generationConfig.maxOutputTokens': { instead: 'Use `maxOutputTokens`.' },
    'generationConfig.candidateCount': ONE,
  },
}

/** Members whose own members are the protocol's; whatever stands deeper is the caller's data. */
const NESTED = new Set(['generationConfig', 'toolConfig'])

/**
 * Merges the raw provider options into the body. The protocol takes each of its names in two spellings (`max_output_tokens`),
 * so they are brought to one before anything is looked up.
 * @throws HOSTED_TOOL_UNDECLARED, INVALID_CONFIG
 */
export function mergeGoogleOptions(body: Wire, request: ModelRequest): Wire {
  const options = request.providerOptions
  if (options === undefined) return body
  const spelled = camelKeys(options)
  for (const name of NESTED) {
    const value = spelled[name]
    if (isWire(value)) spelled[name] = camelKeys(value)
    // taking the whole away would take the output cap along
    else if (name in spelled) spelled[name] = {}
  }
  return mergeRawOptions(body, { ...request, providerOptions: spelled as JsonObject }, RULES)
}

function camelKeys(object: Wire): Wire {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}
