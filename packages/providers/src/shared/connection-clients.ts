import type { ModelRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { SdkClient } from './sdk-client.js'

/** What one SDK client is made for. */
export interface Connection {
  readonly apiKey: string
  readonly baseUrl: string | undefined
}

/** How the clients of one provider are made. */
export interface ClientSource {
  readonly providerId: string
  readonly apiKey: string | undefined
  /** The environment variable that holds the key where `apiKey` is not given; read when a client is first made. */
  readonly keyVariable: string
  /** Further variables, looked at in this order where that one is not set. */
  readonly otherKeyVariables?: readonly string[]
  readonly baseUrl: string | undefined
  /** A base URL that is the provider's own, so that a key is always asked for there. */
  readonly keyed?: string | undefined
  /** The user's own client; clients for other connections are made from it. */
  readonly client: SdkClient | undefined
  create(connection: Connection): Promise<SdkClient>
}

export interface ConnectionClients {
  /** The client for this request: made once for each pair of key and base URL. */
  get(request: ModelRequest): SdkClient | Promise<SdkClient>
  /** Keys in use, so that they can be kept out of errors. */
  secrets(): readonly string[]
}

/** Keys of tenants may come and go; clients hold no sockets of their own, so the oldest can simply be made again. */
const MOST_CLIENTS = 256

/** One client for each connection, made when it is first needed and never changed afterwards (CASE-27). */
export function createConnectionClients(source: ClientSource): ConnectionClients {
  return new Clients(source)
}

interface Entry {
  readonly client: SdkClient | Promise<SdkClient>
  readonly apiKey: string | undefined
}

class Clients implements ConnectionClients {
  readonly #source: ClientSource
  readonly #entries = new Map<string, Entry>()
  /** The client of requests that bring no connection of their own. */
  #usual: SdkClient | undefined
  /** The key of requests that bring none: their client outlives its entry. */
  #usualKey: string | undefined

  constructor(source: ClientSource) {
    this.#source = source
    this.#usual = source.client
  }

  get({ connection }: ModelRequest): SdkClient | Promise<SdkClient> {
    if (connection?.apiKey === undefined && connection?.baseUrl === undefined) {
      return this.#usual ?? this.#makeUsual()
    }
    const { client } = this.#source
    if (client !== undefined) return this.#derived(client, connection)
    return this.#for(connection.apiKey, connection.baseUrl ?? this.#source.baseUrl)
  }

  secrets(): readonly string[] {
    const keys = Array.from(this.#entries.values(), (entry) => entry.apiKey)
    const own = (this.#source.client as { apiKey?: unknown } | undefined)?.apiKey
    return [...keys, this.#usualKey, own].filter((key) => typeof key === 'string')
  }

  async #makeUsual(): Promise<SdkClient> {
    const client = await this.#for(undefined, this.#source.baseUrl)
    this.#usual = client
    return client
  }

  #for(apiKey: string | undefined, baseUrl: string | undefined): SdkClient | Promise<SdkClient> {
    const key = apiKey ?? this.#source.apiKey ?? keyFromEnvironment(this.#source, baseUrl)
    if (apiKey === undefined) this.#usualKey = key
    return this.#remember(key, baseUrl, () => this.#source.create({ apiKey: key, baseUrl }))
  }

  #derived(
    client: SdkClient,
    { apiKey, baseUrl }: NonNullable<ModelRequest['connection']>,
  ): SdkClient | Promise<SdkClient> {
    if (client.withOptions === undefined) {
      throw new SluiceError(
        'INVALID_CONFIG',
        `The client given to provider "${this.#source.providerId}" cannot take another key or base URL.`,
        { hint: 'Give a client that has `withOptions`, or leave `connection` out.', reason: 'provider.client' },
      )
    }
    const options = {
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    }
    const derived = client.withOptions.bind(client)
    return this.#remember(apiKey, baseUrl, async () => derived(options))
  }

  #remember(
    apiKey: string | undefined,
    baseUrl: string | undefined,
    make: () => Promise<SdkClient>,
  ): SdkClient | Promise<SdkClient> {
    const place = JSON.stringify([apiKey ?? null, baseUrl ?? null])
    const known = this.#entries.get(place)
    if (known !== undefined) return known.client
    const client = make().then(
      (made) => {
        this.#entries.set(place, { client: made, apiKey })
        return made
      },
      (fault: unknown) => {
        this.#entries.delete(place)
        throw fault
      },
    )
    this.#entries.set(place, { client, apiKey })
    if (this.#entries.size > MOST_CLIENTS) this.#entries.delete(this.#entries.keys().next().value as string)
    return client
  }
}

function keyFromEnvironment(source: ClientSource, baseUrl: string | undefined): string {
  const variables = [source.keyVariable, ...(source.otherKeyVariables ?? [])]
  for (const variable of variables) {
    const key = process.env[variable]
    if (key !== undefined && key !== '') return key
  }
  // a server of one's own often asks for no key, but the SDKs insist on some text
  if (baseUrl !== undefined && baseUrl !== source.keyed) return 'none'
  throw new SluiceError('MISSING_CONFIG', `The provider "${source.providerId}" has no API key.`, {
    hint: `Set ${variables.join(' or ')}, or give \`apiKey\`.`,
    details: { provider: source.providerId, variable: source.keyVariable },
  })
}
