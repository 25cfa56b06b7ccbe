import type { ModelProvider } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { OCI_COHERE, OCI_GENERIC } from '../behaviour/oci-behaviour.js'
import { checkProviderOptions } from '../shared/check-provider-options.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { SdkProvider } from '../shared/sdk-provider.js'
import type { OciProtocol } from './chat-details.js'
import type { OciAuth } from './oci-auth.js'
import { authProblem } from './oci-auth.js'
import { createOciClients } from './oci-clients.js'
import { ociProtocol } from './oci-protocol.js'

/** What {@link oci} takes. All of it may be left out. */
export interface OciOptions {
  /** @default told by each model's name: `cohere.*` speaks 'oci-cohere', every other 'oci-generic' */
  readonly protocol?: OciProtocol
  /** The part of a model reference before the slash. @default 'oci' */
  readonly id?: string
  /** Where the models are used and paid for. @default the environment's OCI_COMPARTMENT_ID, read at the first use */
  readonly compartmentId?: string
  /** `us-chicago-1`. @default the environment's OCI_REGION, else that of the credentials */
  readonly region?: string
  /** Another endpoint of the service, without the version in its path. @default that of the region */
  readonly baseUrl?: string
  /** @default the profile of the configuration file that OCI_CONFIG_FILE and OCI_CONFIG_PROFILE name, else its default */
  readonly auth?: OciAuth
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Sent with every request. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>
}

const OPTIONS = ['protocol', 'id', 'compartmentId', 'region', 'baseUrl', 'auth', 'fetch', 'headers']

/**
 * The adapter for Generative AI of Oracle Cloud Infrastructure, with signed requests. The SDK (`oci-common` and
 * `oci-generativeaiinference`, optional peers) is imported at the first request; its retries and its circuit breaker are
 * off. A model that runs on a cluster of one's own is named by the OCID of its endpoint.
 *
 * @example
 * createRuntime({ providers: [oci({ compartmentId: 'ocid1.compartment.oc1..example', auth: { profile: 'CHICAGO' } })] })
 *
 * @throws INVALID_CONFIG for options that are not known or not of their type; at the first use for credentials that cannot
 * be read, MISSING_CONFIG without a compartment or a region, PROVIDER_SDK_MISSING without the SDK
 */
export function oci(options: OciOptions = {}): ModelProvider {
  checkOptions(options)
  const id = options.id ?? OCI_GENERIC.id
  return new SdkProvider({
    id,
    wire: ociProtocol(options.protocol, {
      providerId: id,
      compartmentId: () => options.compartmentId ?? compartmentOfEnvironment(id),
    }),
    defaults: OCI_GENERIC.defaults,
    clients: createOciClients({
      providerId: id,
      auth: options.auth,
      region: options.region,
      baseUrl: options.baseUrl,
      fetch: options.fetch,
    }),
    objectBodies: false,
    headers: options.headers,
  })
}

function checkOptions(options: OciOptions): void {
  const { auth, ...rest } = typeof options === 'object' && options !== null ? options : {}
  const others = Array.isArray(options) || typeof options !== 'object' || options === null ? options : rest
  checkProviderOptions('oci', others, OPTIONS, { protocol: [OCI_GENERIC.protocol, OCI_COHERE.protocol] })
  const problem = auth === undefined ? undefined : authProblem(auth)
  if (problem === undefined) return
  throw new SluiceError('INVALID_CONFIG', `The options of oci() are not acceptable: \`auth\` ${problem}.`, {
    hint: 'A profile ({ profile, configFile, session }), a key ({ tenancy, user, fingerprint, privateKey }), or a provider of the SDK.',
    reason: 'provider.options',
  })
}

function compartmentOfEnvironment(id: string): string {
  const compartment = process.env.OCI_COMPARTMENT_ID
  if (compartment !== undefined && compartment !== '') return compartment
  throw new SluiceError('MISSING_CONFIG', `The provider "${id}" has no compartment.`, {
    hint: 'Set OCI_COMPARTMENT_ID, or give `compartmentId`.',
    details: { provider: id, variable: 'OCI_COMPARTMENT_ID' },
  })
}
