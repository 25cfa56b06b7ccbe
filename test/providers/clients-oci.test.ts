import { createHash, createVerify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelProvider } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { OciOptions } from '@sluice/providers/oci'
import { oci } from '@sluice/providers/oci'
import type { ReceivedRequest } from '@sluice/testkit'
import { serveExchanges } from '@sluice/testkit'
import { SimpleAuthenticationDetailsProvider } from 'oci-common'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PUBLIC_KEY, SIGNING_KEY } from './recorded/signing-key.js'
import { never, request } from './wire/adapters.js'
import { errorOf } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'

const OK = adapterOf('oci-generic').wire.whole({ text: 'ok' })
const KEY_ID = `${SIGNING_KEY.tenancy}/${SIGNING_KEY.user}/${SIGNING_KEY.fingerprint}`

/** The address that a request goes to, without sending it. */
async function addressOf(options: OciOptions, connection?: { baseUrl: string }): Promise<string> {
  let address = ''
  const provider = oci({
    ...options,
    fetch: async (url) => {
      address = String(url)
      return Response.json({ code: 'x', message: 'y' }, { status: 400 })
    },
  })
  await provider.generate(request(connection === undefined ? {} : { connection }), never()).catch((error: unknown) => {
    if (address === '') throw error
  })
  return address
}

/** What a received request was signed with, and whether the signature holds for what arrived. */
function signatureOf({ headers, path, body }: ReceivedRequest): { keyId: string; holds: boolean } {
  const authorization = String(headers.authorization)
  const part = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(authorization)?.[1] ?? ''
  const signed = part('headers')
    .toLowerCase()
    .split(' ')
    .map((name) => `${name}: ${name === '(request-target)' ? `post ${path}` : String(headers[name])}`)
    .join('\n')
  const digest = createHash('sha256').update(body).digest('base64')
  return {
    keyId: part('keyId'),
    holds:
      authorization.startsWith('Signature version="1",') &&
      headers['x-content-sha256'] === digest &&
      createVerify('RSA-SHA256').update(signed).verify(PUBLIC_KEY, part('signature'), 'base64'),
  }
}

function faultOf(work: () => unknown): SluiceError {
  try {
    work()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
  }
  throw new Error('no SluiceError')
}

async function drain(provider: ModelProvider): Promise<void> {
  for await (const _part of provider.stream(request(), never()));
}

beforeEach(() => {
  for (const name of ['OCI_CONFIG_FILE', 'OCI_CONFIG_PROFILE', 'OCI_COMPARTMENT_ID', 'OCI_REGION']) vi.stubEnv(name, '')
})
afterEach(() => vi.unstubAllEnvs())

describe('requests to OCI', () => {
  it('are signed over the very body that is sent, plain and as a stream', async () => {
    const server = await serveExchanges([OK, adapterOf('oci-generic').wire.stream({ text: 'ok' })])
    const provider = oci({
      auth: SIGNING_KEY,
      compartmentId: 'c',
      baseUrl: `${server.url}/`,
      headers: { 'x-own': 'yes' },
    })
    const measured = provider.inputTokensAtMost?.(request())
    await provider.generate(request(), never())
    await drain(provider)
    expect(server.requests).toHaveLength(2)
    for (const received of server.requests) {
      expect(signatureOf(received)).toEqual({ keyId: KEY_ID, holds: true })
      expect(received.path).toBe('/20231130/actions/chat')
      expect(received.headers).toMatchObject({ 'content-type': 'application/json', 'x-own': 'yes' })
    }
    const [plain, streamed] = server.requests.map(({ body }) => body) as [string, string]
    expect(Buffer.byteLength(plain)).toBe(measured)
    const { isStream, streamOptions, ...rest } = JSON.parse(streamed).chatRequest
    expect({ isStream, streamOptions }).toEqual({ isStream: true, streamOptions: { isIncludeUsage: true } })
    expect({ ...JSON.parse(streamed), chatRequest: rest }).toEqual(JSON.parse(plain))
    await server.close()
  })

  it('go to the region that is named, of the environment, or of the credentials', async () => {
    const options = { auth: SIGNING_KEY, compartmentId: 'c' }
    const at = (region: string) => `https://inference.generativeai.${region}.oci.oraclecloud.com/20231130/actions/chat`
    expect(await addressOf({ ...options, region: 'us-chicago-1' })).toBe(at('us-chicago-1'))
    expect(await errorOf(addressOf(options))).toMatchObject({
      code: 'MISSING_CONFIG',
      details: { variable: 'OCI_REGION' },
    })
    vi.stubEnv('OCI_REGION', 'eu-frankfurt-1')
    expect(await addressOf(options)).toBe(at('eu-frankfurt-1'))
    expect(await addressOf({ ...options, region: 'us-chicago-1' })).toBe(at('us-chicago-1'))
    expect(await addressOf({ ...options, baseUrl: 'https://gateway.example/genai/' })).toBe(
      'https://gateway.example/genai/20231130/actions/chat',
    )
    expect(await addressOf(options, { baseUrl: 'https://other.example' })).toBe(
      'https://other.example/20231130/actions/chat',
    )
  })

  it('name the compartment of the option, or of the environment, and are not made without one', async () => {
    const server = await serveExchanges([OK, OK])
    const options = { auth: SIGNING_KEY, baseUrl: server.url }
    const missing = await errorOf(oci(options).generate(request(), never()))
    expect(missing).toMatchObject({ code: 'MISSING_CONFIG', details: { variable: 'OCI_COMPARTMENT_ID' } })
    expect(oci(options).inputTokensAtMost?.(request())).toBeNull()
    vi.stubEnv('OCI_COMPARTMENT_ID', 'of-environment')
    await oci(options).generate(request(), never())
    await oci({ ...options, compartmentId: 'given' }).generate(request(), never())
    expect(server.requests.map(({ body }) => JSON.parse(body).compartmentId as string)).toEqual([
      'of-environment',
      'given',
    ])
    await server.close()
  })

  it('take no key from a call: they are signed', async () => {
    const provider = oci({ auth: SIGNING_KEY, compartmentId: 'c', baseUrl: 'http://127.0.0.1:9' })
    const refused = await errorOf(provider.generate(request({ connection: { apiKey: 'sk-0123456789' } }), never()))
    expect(refused).toMatchObject({ code: 'INVALID_CONFIG', reason: 'provider.connection' })
    expect(refused.message).not.toContain('sk-0123456789')
  })
})

describe('credentials of OCI', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-oci-'))
    const { tenancy, user, fingerprint, privateKey } = SIGNING_KEY
    writeFileSync(join(folder, 'key.pem'), privateKey)
    const profile = (name: string, region: string) =>
      `[${name}]\ntenancy=${tenancy}\nuser=${user}\nfingerprint=${fingerprint}\nkey_file=${join(folder, 'key.pem')}\nregion=${region}\n`
    writeFileSync(join(folder, 'config'), `${profile('DEFAULT', 'us-ashburn-1')}${profile('CHICAGO', 'us-chicago-1')}`)
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('come from a profile of a configuration file, which says the region as well', async () => {
    const configFile = join(folder, 'config')
    const of = (auth: OciOptions['auth']) => addressOf({ auth, compartmentId: 'c' } as OciOptions)
    expect(await of({ configFile })).toContain('.us-ashburn-1.')
    expect(await of({ configFile, profile: 'CHICAGO' })).toContain('.us-chicago-1.')
    vi.stubEnv('OCI_CONFIG_PROFILE', 'CHICAGO')
    expect(await of({ configFile })).toContain('.us-chicago-1.')
    vi.stubEnv('OCI_CONFIG_FILE', configFile)
    expect(await addressOf({ compartmentId: 'c' })).toContain('.us-chicago-1.')
  })

  it('may be any provider of the SDK, or a function that makes one, once', async () => {
    const server = await serveExchanges([OK, OK, OK])
    const { tenancy, user, fingerprint, privateKey } = SIGNING_KEY
    const own = new SimpleAuthenticationDetailsProvider(tenancy, user, fingerprint, privateKey, null)
    const make = vi.fn(async () => own)
    const options = { compartmentId: 'c', baseUrl: server.url }
    await oci({ ...options, auth: own }).generate(request(), never())
    const provider = oci({ ...options, auth: make })
    expect(make).not.toHaveBeenCalled()
    await Promise.all([provider.generate(request(), never()), provider.generate(request(), never())])
    expect(make).toHaveBeenCalledTimes(1)
    for (const received of server.requests) expect(signatureOf(received)).toEqual({ keyId: KEY_ID, holds: true })
    await server.close()
  })

  it('that cannot be read are told before anything is sent, and asked for again by the next call', async () => {
    const auth = vi.fn(async () => {
      throw new Error('no metadata service')
    })
    const provider = oci({ auth, compartmentId: 'c', baseUrl: 'http://127.0.0.1:9' })
    for (let times = 0; times < 2; times++) {
      const error = await errorOf(provider.generate(request(), never()))
      expect(error).toMatchObject({ code: 'INVALID_CONFIG', reason: 'provider.auth' })
      expect(error.message).toContain('no metadata service')
    }
    expect(auth).toHaveBeenCalledTimes(2)
    const missing = oci({ auth: { configFile: join(folder, 'none') }, compartmentId: 'c', region: 'us-chicago-1' })
    expect(await errorOf(missing.generate(request(), never()))).toMatchObject({ code: 'INVALID_CONFIG' })
  })

  it('a private key is in no error: not one that cannot be read, and not one that a server quotes', async () => {
    const line = SIGNING_KEY.privateKey.split('\n')[3] as string
    const broken = { ...SIGNING_KEY, privateKey: `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----` }
    const options = { compartmentId: 'c', baseUrl: 'http://127.0.0.1:9' }
    const unread = await errorOf(oci({ ...options, auth: broken }).generate(request(), never()))
    expect(unread).toMatchObject({ code: 'INVALID_CONFIG', reason: 'provider.auth' })
    const quoting = async () => Response.json({ code: 'NotAuthenticated', message: `Got ${line}` }, { status: 401 })
    const quoted = await errorOf(oci({ ...options, auth: SIGNING_KEY, fetch: quoting }).generate(request(), never()))
    expect(quoted.code).toBe('PROVIDER_AUTH')
    for (const error of [unread, quoted]) expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(line)
  })
})

describe('a provider of credentials that has none', () => {
  it('ends the call as one that was never sent, whatever it throws later', async () => {
    const { privateKey } = SIGNING_KEY
    let signed = false
    const auth = {
      getKeyId: async () => {
        signed = true
        throw new Error('the token has run out')
      },
      getPrivateKey: () => {
        if (signed) throw new Error('no key any more')
        return privateKey
      },
      getPassphrase: () => null,
    }
    const provider = oci({ auth, compartmentId: 'c', baseUrl: 'http://127.0.0.1:9' })
    const error = await errorOf(provider.generate(request(), never()))
    expect(error).toMatchObject({ code: 'PROVIDER_UNREACHABLE', retryable: false, sent: 'no' })
    expect(error.message).toContain('the token has run out')
  })
})

describe('options of oci()', () => {
  it('are named where they are not known or not of their type', () => {
    const faults = faultOf(() => oci({ protocol: 'oci-v2', apiKey: 'x', baseUrl: 'no url', region: '' } as never))
    expect(faults.code).toBe('INVALID_CONFIG')
    for (const name of ['protocol', 'apiKey', 'baseUrl', 'region']) expect(faults.message).toContain(`\`${name}\``)
    const secret = 'secret-text-012345'
    for (const [auth, said] of [
      [secret, 'must be an object'],
      [{ privateKey: secret }, 'lacks `tenancy`, `user`, `fingerprint`'],
      [{ ...SIGNING_KEY, profile: 'X' }, 'a key and a profile'],
      [{ key: secret }, 'unknown members: key'],
      [{ profile: 7 }, '`profile`'],
    ] as const) {
      const fault = faultOf(() => oci({ auth } as never))
      expect(fault.message).toContain(said)
      expect(fault.message).not.toContain(secret)
    }
    for (const given of ['ocid1', null, []]) expect(faultOf(() => oci(given as never)).code).toBe('INVALID_CONFIG')
  })

  it('give id, protocol and what follows a failure', () => {
    expect(oci()).toMatchObject({
      id: 'oci',
      protocol: 'oci-generic',
      defaults: { onToolError: 'return', onToolLimit: 'throw' },
    })
    expect(oci({ id: 'own', protocol: 'oci-cohere' })).toMatchObject({ id: 'own', protocol: 'oci-cohere' })
  })
})
