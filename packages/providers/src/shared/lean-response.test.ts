import { describe, expect, it } from 'vitest'
import { leanFetch } from './lean-response.js'

const answer = (status = 200): Response =>
  new Response('{"a":1}', { status, headers: { 'x-request-id': 'req_1', 'content-type': 'application/json' } })

describe('leanFetch', () => {
  it('gives an answer that says and holds what the real one does', async () => {
    const response = await leanFetch(async () => answer())('http://x')
    expect([response.ok, response.status, response.statusText, response.url, response.type]).toEqual([
      true,
      200,
      '',
      '',
      'default',
    ])
    expect(response.headers.get('X-Request-Id')).toBe('req_1')
    expect(response.headers.has('content-type')).toBe(true)
    expect([...response.headers]).toEqual([
      ['content-type', 'application/json'],
      ['x-request-id', 'req_1'],
    ])
    expect(await response.clone().json()).toEqual({ a: 1 })
    expect(response.bodyUsed).toBe(false)
    expect(await response.text()).toBe('{"a":1}')
    expect(response.bodyUsed).toBe(true)
    const lean = () => leanFetch(async () => answer())('http://x')
    expect(await (await lean()).json()).toEqual({ a: 1 })
    expect(new TextDecoder().decode(await (await lean()).arrayBuffer())).toBe('{"a":1}')
    expect(await (await (await lean()).blob()).text()).toBe('{"a":1}')
    expect((await lean()).body).toBeInstanceOf(ReadableStream)
  })

  it('shows no headers to who lists them for a log', async () => {
    const { headers } = await leanFetch(async () => answer())('http://x')
    expect([...headers.entries()]).toEqual([])
    expect(Object.entries(headers)).toEqual([])
  })

  it('passes an error answer as it is', async () => {
    const refused = answer(429)
    expect(await leanFetch(async () => refused)('http://x')).toBe(refused)
  })
})
