import type { ModelRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { BuiltInProtocol } from '../behaviour/protocol-behaviour.js'
import type { RawOptionRules } from '../shared/raw-options.js'
import { mergeRawOptions } from '../shared/raw-options.js'
import type { Wire } from '../shared/wire-json.js'

/** The protocols of OCI's chat, which share an address and an envelope. */
export type OciProtocol = Extract<BuiltInProtocol, 'oci-generic' | 'oci-cohere'>

/** What is the same for every request of one adapter. */
export interface OciContext {
  readonly providerId: string
  /** Asked for at the first request. @throws MISSING_CONFIG */
  compartmentId(): string
}

/** A model that runs on a cluster of one's own is named by its endpoint. */
const ENDPOINT = /^ocid1\.generativeaiendpoint\./

/**
 * How the ends of bodies differ: what makes a stream stands deep inside, so the request to the model is the last member of
 * the envelope.
 */
export const TAILS = {
  plain: '}}',
  stream: ',"isStream":true,"streamOptions":{"isIncludeUsage":true}}}',
} as const

const OWNED: RawOptionRules['owned'] = {
  apiFormat: { instead: 'Use the option `protocol` of oci().' },
  maxTokens: { instead: 'Use `maxOutputTokens`.' },
  maxCompletionTokens: { instead: 'Use `maxOutputTokens`.' },
  isStream: { instead: 'Use `stream`.', allowed: false },
  streamOptions: { instead: 'Usage is asked for with every stream.' },
  numGenerations: { instead: 'One reply is asked for; the output cap holds for it alone.', allowed: 1 },
  isEcho: { instead: 'The prompt is not asked for again.', allowed: false },
}

/**
 * The body of `POST /actions/chat`: the envelope, and in it the request to the model with the raw options of the caller,
 * which are members of that request.
 */
export function chatDetails(
  request: ModelRequest,
  chatRequest: Wire,
  context: OciContext,
  rules: RawOptionRules,
): Wire {
  const owned = { ...OWNED, ...rules.owned }
  const { isStream: _isStream, ...merged } = mergeRawOptions(chatRequest, request, { ...rules, owned })
  const servingMode = ENDPOINT.test(request.model)
    ? { servingType: 'DEDICATED', endpointId: request.model }
    : { servingType: 'ON_DEMAND', modelId: request.model }
  return { compartmentId: context.compartmentId(), servingMode, chatRequest: merged }
}

/** Refuses tools that would run at the provider: there are none. */
export function refuseHostedTools({ hostedTools }: ModelRequest, protocol: OciProtocol): void {
  if (hostedTools.length === 0) return
  throw new SluiceError('INVALID_CONFIG', `The protocol ${protocol} has no tools that run at the provider.`, {
    hint: 'Leave `hostedTools` out, or give a tool with a handler.',
    reason: 'hosted_tools.unsupported',
  })
}
