import type { ModelRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { OCI_GENERIC } from '../behaviour/oci-behaviour.js'
import type { ConnectionClients } from '../shared/connection-clients.js'
import { loadSdk } from '../shared/load-sdk.js'
import type { SdkClient } from '../shared/sdk-client.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { sdkFetch } from '../shared/sdk-fetch.js'
import type { OciAuth, OciCredentials } from './oci-auth.js'
import { makeCredentials } from './oci-auth.js'
import type { OciConnection } from './oci-client.js'
import { OciClient } from './oci-client.js'

/** How the clients of one adapter are made. */
export interface OciClientSource {
  readonly providerId: string
  readonly auth: OciAuth | undefined
  readonly region: string | undefined
  readonly baseUrl: string | undefined
  readonly fetch: Fetch | undefined
}

/** Addresses of tenants may come and go; a client holds nothing that is dear. */
const MOST_CLIENTS = 256
const SHORTEST_LINE = 16

/** One client for each address, all of them signing with the same credentials, which are read at the first request. */
export function createOciClients(source: OciClientSource): ConnectionClients {
  return new OciClients(source)
}

type Shared = Omit<OciConnection, 'endpoint'>

class OciClients implements ConnectionClients {
  readonly #source: OciClientSource
  readonly #clients = new Map<string | undefined, SdkClient>()
  #credentials: OciCredentials | undefined
  #shared: Promise<Shared> | undefined

  constructor(source: OciClientSource) {
    this.#source = source
  }

  get({ connection }: ModelRequest): SdkClient | Promise<SdkClient> {
    if (connection?.apiKey !== undefined) throw this.#noKeys()
    const endpoint = connection?.baseUrl ?? this.#source.baseUrl
    return this.#clients.get(endpoint) ?? this.#make(endpoint)
  }

  /** The private key, by its lines as well: an error may quote a part. */
  secrets(): readonly string[] {
    const { auth } = this.#source
    const given = typeof auth === 'object' && 'privateKey' in auth ? [auth.privateKey, auth.passphrase] : []
    const texts = [...given, ...heldBy(this.#credentials)].filter((text) => typeof text === 'string')
    return texts.flatMap((text) => [text, ...text.split('\n').filter((line) => line.length >= SHORTEST_LINE)])
  }

  async #make(endpoint: string | undefined): Promise<SdkClient> {
    this.#shared ??= this.#load().catch((fault: unknown) => {
      this.#shared = undefined
      throw fault
    })
    const shared = await this.#shared
    if (endpoint === undefined && shared.region === undefined) throw this.#noRegion()
    const client = new OciClient({ ...shared, endpoint: endpoint?.replace(/\/+$/, '') })
    this.#clients.set(endpoint, client)
    if (this.#clients.size > MOST_CLIENTS) this.#clients.delete(this.#clients.keys().next().value)
    return client
  }

  async #load(): Promise<Shared> {
    const { providerId, auth, region, fetch } = this.#source
    const [commonSdk, inferenceSdk] = OCI_GENERIC.sdks
    // the one that brings the other along is asked for first
    const { GenerativeAiInferenceClient: Client } = await loadSdk(
      inferenceSdk.package,
      inferenceSdk.range,
      () => import('oci-generativeaiinference'),
    )
    const common = await loadSdk(commonSdk.package, commonSdk.range, () => import('oci-common'))
    const credentials = await makeCredentials(common, providerId, auth)
    this.#credentials = credentials
    return {
      common,
      Client,
      signer: signerOf(common, credentials, providerId),
      region: region ?? environment('OCI_REGION') ?? regionOf(credentials),
      fetch: sdkFetch(fetch),
    }
  }

  #noKeys(): SluiceError {
    return new SluiceError(
      'INVALID_CONFIG',
      `Requests of provider "${this.#source.providerId}" are signed: there is no key to take from \`connection\`.`,
      { hint: 'Make an adapter with an `id` of its own for each set of credentials.', reason: 'provider.connection' },
    )
  }

  #noRegion(): SluiceError {
    return new SluiceError('MISSING_CONFIG', `The provider "${this.#source.providerId}" has no region.`, {
      hint: 'Set OCI_REGION, or give `region` or `baseUrl`.',
      details: { provider: this.#source.providerId, variable: 'OCI_REGION' },
    })
  }
}

/** What a provider of credentials holds now; one that has nothing yet may throw. */
function heldBy(credentials: OciCredentials | undefined): ReadonlyArray<string | null | undefined> {
  try {
    return [credentials?.getPrivateKey(), credentials?.getPassphrase()]
  } catch {
    return []
  }
}

function environment(variable: string): string | undefined {
  const value = process.env[variable]
  return value === '' ? undefined : value
}

/** What signs; a key that cannot be read is refused before anything is sent, and not shown. */
function signerOf(common: OciConnection['common'], credentials: OciCredentials, providerId: string) {
  try {
    return new common.DefaultRequestSigner(credentials)
  } catch {
    throw new SluiceError('INVALID_CONFIG', `The private key of provider "${providerId}" cannot be read.`, {
      hint: 'Give the text of a PEM file, and its passphrase where it has one.',
      reason: 'provider.auth',
    })
  }
}

/** Where the credentials say it: profiles and principals do. */
function regionOf(credentials: OciCredentials): string | undefined {
  const { getRegion } = credentials as { getRegion?: () => { readonly regionId?: string } | undefined }
  return getRegion?.call(credentials)?.regionId
}
