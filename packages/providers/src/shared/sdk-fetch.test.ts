import type { ModelRequest } from '@sluice/core'
import { exchangeFetch } from '@sluice/testkit'
import nock from 'nock'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { anthropic } from '../anthropic/index.js'
import { openai } from '../openai/index.js'
import { NetworkFailure, sdkFetch } from './sdk-fetch.js'

const REQUEST: ModelRequest = { model: 'm', messages: [], tools: [], hostedTools: [], maxOutputTokens: 1 }
const never = () => new AbortController().signal
const PROVIDERS = [
  [
    'openai',
    openai({ apiKey: 'sk-0123456789' }),
    'https://api.openai.com/v1/responses',
    { status: 'completed', output: [] },
  ],
  ['anthropic', anthropic({ apiKey: 'sk-0123456789' }), 'https://api.anthropic.com/v1/messages', { content: [] }],
] as const

// importing nock switches it on
beforeAll(() => nock.restore())

afterEach(() => {
  nock.cleanAll()
  nock.enableNetConnect()
  nock.restore()
})

describe('sdkFetch', () => {
  it.each(PROVIDERS)(
    '%s: sees a global fetch that was replaced after its client was made',
    async (_id, provider, url, body) => {
      const { origin, pathname } = new URL(url)
      for (let round = 0; round < 2; round++) {
        nock.activate()
        const scope = nock(origin).post(pathname).reply(200, body)
        expect((await provider.generate(REQUEST, never())).parts).toEqual([])
        scope.done()
        nock.restore()
      }
    },
  )

  it.each(PROVIDERS)(
    '%s: a request that an interceptor refuses is not called a timeout',
    async (_id, provider, url) => {
      nock.activate()
      nock.disableNetConnect()
      nock(new URL(url).origin).post('/another/path').reply(200, {})
      await expect(provider.generate(REQUEST, never())).rejects.toMatchObject({ code: 'PROVIDER_UNREACHABLE' })
    },
  )

  it('looks the global fetch up when it is called', async () => {
    const wrapped = sdkFetch()
    for (const text of ['one', 'two']) {
      vi.stubGlobal('fetch', async () => new Response(text))
      expect(await (await wrapped('http://x')).text()).toBe(text)
    }
    vi.unstubAllGlobals()
  })

  it('lets answers with status 200 pass untouched, and lifts the fields of a flat error', async () => {
    const ok = new Response('{"message":"x"}')
    expect(await sdkFetch(async () => ok)('http://x')).toBe(ok)
    const flat = exchangeFetch({ status: 400, headers: { 'x-request-id': 'r' }, body: { message: 'flat' } })
    const lifted = await sdkFetch(flat)('http://x')
    expect([lifted.status, lifted.headers.get('x-request-id')]).toEqual([400, 'r'])
    expect(await lifted.json()).toEqual({ error: { message: 'flat' } })
    const text = await sdkFetch(exchangeFetch({ status: 502, headers: {}, bodyText: '<html>' }))('http://x')
    expect(await text.text()).toBe('<html>')
  })

  it('carries what fetch threw, and lets an abort be an abort', async () => {
    const fault = new TypeError('x-timeout: fetch failed')
    const failure: unknown = await sdkFetch(() => Promise.reject(fault))('http://x').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NetworkFailure)
    expect((failure as NetworkFailure).origin).toBe(fault)
    expect(String(failure)).not.toContain('timeout')
    const aborted = new DOMException('stop', 'AbortError')
    await expect(sdkFetch(() => Promise.reject(aborted))('http://x')).rejects.toBe(aborted)
  })
})
