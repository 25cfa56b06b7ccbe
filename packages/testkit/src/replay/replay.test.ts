import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonValue } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { Fixture } from './fixture.js'
import { createReplayServer } from './replay-server.js'
import type { ReplayServer } from './replay-server.js'
import type { Replay } from './replay.js'
import { replay } from './replay.js'

const post = { method: 'POST', url: 'https://api.example.test/v1/answers' }

const twoCalls: Fixture = {
  protocol: 'example',
  situation: 'two-calls',
  exchanges: [
    {
      request: { ...post, body: { model: 'small', input: [{ role: 'user' }] } },
      response: { headers: { 'x-request-id': 'req_1' }, body: { text: 'first' } },
    },
    {
      request: { ...post, body: { input: { $contains: [{ type: 'result', output: { $includes: 'INV-1' } }] } } },
      response: { status: 429, headers: { 'retry-after': '2' }, body: { error: 'slow down' } },
    },
  ],
}

const first = { model: 'small', input: [{ role: 'user', content: 'Hello' }], stream: false }
const second = {
  model: 'small',
  input: [{ role: 'user' }, { type: 'call' }, { type: 'result', output: 'INV-1 is open' }],
}

function ask(body: unknown, url = post.url, method = 'POST'): Promise<Response> {
  return fetch(url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

const realFetch = globalThis.fetch
let wire: Replay | undefined
const start: typeof replay = (...args) => {
  wire = replay(...args)
  return wire
}
afterEach(() => wire?.restore())

describe('replay', () => {
  it('T-16: answers from the fixture, status, headers and body', async () => {
    const replayed = start(twoCalls)
    const answer = await ask(first)
    expect([answer.status, answer.headers.get('x-request-id'), await answer.json()]).toEqual([
      200,
      'req_1',
      { text: 'first' },
    ])
    const other = await ask(second)
    expect([other.status, other.headers.get('retry-after'), await other.json()]).toEqual([
      429,
      '2',
      { error: 'slow down' },
    ])
    expect(replayed.requests.map((request) => [request.method, request.url, request.body])).toEqual([
      ['POST', post.url, first],
      ['POST', post.url, second],
    ])
    expect(replayed.requests[0]?.headers['content-type']).toBe('application/json')
    replayed.done()
  })

  it('serves node:http too', async () => {
    const replayed = start({
      exchanges: [{ request: { method: 'GET', url: 'http://plain.test/a?key=1' }, response: { body: 'text' } }],
    })
    const text = await new Promise((resolve, reject) => {
      const request = httpRequest('http://plain.test/a?key=1&other=2', (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve(body))
      })
      request.on('error', reject)
      request.end()
    })
    expect(text).toBe('text')
    replayed.done()
  })

  it('a request that fits nothing fails with the nearest exchange, nothing leaves, and done fails too', async () => {
    const replayed = start(twoCalls)
    const error = await failure(ask({ ...first, model: 'large' }))
    const cause = (error as Error).cause ?? error
    expect(SluiceError.isInstance(cause, 'REPLAY_MISS')).toBe(true)
    const text = String((cause as Error).message)
    expect(text).toContain(`Request 1, POST ${post.url}, fits no exchange of example/two-calls; nothing was sent.`)
    expect(text).toContain(
      'Nearest: exchange 1 of 2:\n  body.model\n    - "small"  (fixture)\n    + "large"  (request)',
    )
    expect(() => replayed.done()).toThrow(expect.objectContaining({ code: 'REPLAY_MISS' }))
  })

  it.each([
    ['another host', () => ask(first, 'https://api.other.test/v1/answers'), 'host'],
    ['another path', () => ask(first, 'https://api.example.test/v1/other'), 'path'],
    ['another method', () => ask(first, post.url, 'PUT'), 'method'],
    [
      'a body with another list',
      () => ask({ ...first, input: [{ role: 'user' }, { role: 'user' }] }),
      'body.input.length',
    ],
    ['no body', () => fetch(post.url, { method: 'POST' }), 'body'],
  ])('refuses %s', async (_title, send, place) => {
    const replayed = start(twoCalls)
    await failure(send())
    expect(() => replayed.done()).toThrow(new RegExp(`^.*\\n.*\\n  ${place}\\n`, ''))
  })

  it('exchanges come in order, unless any order is asked for', async () => {
    const strict = start(twoCalls)
    await failure(ask(second))
    expect(() => strict.done()).toThrow(/exchange 2 of 2, which comes later in the order/)
    const any = start(twoCalls, { order: 'any' })
    expect((await ask(second)).status).toBe(429)
    expect((await ask(first)).status).toBe(200)
    any.done()
  })

  it('a star in the path fits what stands in its segment, and no more', async () => {
    const url = (name: string) => `https://api.example.test/v1/models/${name}:answer`
    const fixture: Fixture = {
      exchanges: [{ request: { url: url('*') }, response: { body: { ok: true } } }],
    }
    const replayed = start(fixture)
    for (const name of ['', 'a/b', 'x:answer/y']) {
      expect(await failure(ask({}, url(name))), name).not.toBe('no failure')
    }
    expect(await failure(ask({}, 'https://api.example.test/v1/models/x'))).not.toBe('no failure')
    expect((await ask({}, url('gemini-x'))).status).toBe(200)
    expect(() => replayed.done()).toThrow('models/a/b:answer, fits no exchange')
  })

  it('a second request of the same kind is a miss: the last reply is never repeated', async () => {
    const replayed = start({ exchanges: [{ request: post, response: { body: {} } }] })
    await ask({})
    await failure(ask({}))
    expect(() => replayed.done()).toThrow(/exchange 1 of 1, already used/)
  })

  it('what nobody asked for fails by name, but for optional exchanges', async () => {
    const replayed = start(twoCalls)
    await ask(first)
    expect(() => replayed.done()).toThrow(
      expect.objectContaining({ code: 'REPLAY_LEFT_OVER', message: expect.stringContaining(`2. POST ${post.url}`) }),
    )
    const [one, two] = twoCalls.exchanges
    const optional = {
      exchanges: [
        { ...one, optional: true },
        { ...two, optional: true },
      ],
    } as Fixture
    start(optional).done()
    const skipping = start(optional)
    expect((await ask(second)).status).toBe(429)
    skipping.done()
  })

  it('streams server-sent events, cut anywhere', async () => {
    const events = [{ event: 'delta', data: { text: 'Grüße 🧾' } }, { data: '[DONE]' }]
    const text = 'event: delta\ndata: {"text":"Grüße 🧾"}\n\ndata: [DONE]\n\n'
    for (const cutBytes of [undefined, 1, 7]) {
      const replayed = start({
        exchanges: [{ request: post, response: { events, ...(cutBytes === undefined ? {} : { cutBytes }) } }],
      })
      const answer = await ask({})
      expect(answer.headers.get('content-type')).toBe('text/event-stream')
      const pieces: Uint8Array[] = []
      for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece)
      expect(Buffer.concat(pieces).toString('utf8')).toBe(text)
      expect(pieces.length).toBeGreaterThanOrEqual(2)
      replayed.done()
    }
  })

  it('streams lines of JSON, one a line, cut anywhere', async () => {
    const lines: JsonValue[] = [{ text: 'Grüße 🧾' }, { done: true }]
    for (const cutBytes of [undefined, 1, 7]) {
      const response = { lines, ...(cutBytes === undefined ? {} : { cutBytes }) }
      const replayed = start({ exchanges: [{ request: post, response }] })
      const answer = await ask({})
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
      expect(await answer.text()).toBe('{"text":"Grüße 🧾"}\n{"done":true}\n')
      replayed.done()
    }
  })

  it('CASE-12: a connection breaks where the fixture says', async () => {
    const events = [{ data: 'one' }, { data: 'two' }]
    const replayed = start({ exchanges: [{ request: post, response: { events, breakAfter: 1 } }] })
    const answer = await ask({})
    let seen = ''
    const error = await failure(
      (async () => {
        for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>)
          seen += Buffer.from(piece).toString()
      })(),
    )
    expect(seen).toBe('data: one\n\n')
    expect(error).toBeInstanceOf(Error)
    replayed.done()
  })

  it('an abort reaches the request before the answer and in the middle of it', async () => {
    const replayed = start({
      exchanges: [{ request: post, response: { events: [{ data: '1' }, { data: '2' }, { data: '3' }] } }],
    })
    const controller = new AbortController()
    const answer = await fetch(post.url, { method: 'POST', signal: controller.signal })
    const error = await failure(
      (async () => {
        for await (const _piece of answer.body as unknown as AsyncIterable<Uint8Array>)
          controller.abort(new Error('enough'))
      })(),
    )
    expect(error).toMatchObject({ message: 'enough' })
    expect(
      await failure(fetch(post.url, { method: 'POST', signal: AbortSignal.abort(new Error('gone')) })),
    ).toMatchObject({ message: 'gone' })
    replayed.done()
  })

  it('two replays at once are refused by name, and the first goes on', async () => {
    const replayed = start(twoCalls)
    expect(() => replay({ exchanges: [{ request: post, response: {} }] })).toThrow(
      expect.objectContaining({ code: 'REPLAY_ACTIVE', message: expect.stringContaining('example/two-calls') }),
    )
    expect((await ask(first)).status).toBe(200)
    replayed.restore()
    replay('openai-chat/text').restore()
  })

  it('restores what was there before, also when done fails', async () => {
    expect(() => start(twoCalls).done()).toThrow(/left over/)
    expect(globalThis.fetch).toBe(realFetch)
    const server = createServer((_request, response) => response.end('real'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    expect(await (await fetch(url)).text()).toBe('real')
    start(twoCalls)
    expect(await failure(fetch(url))).toBeInstanceOf(Error)
    wire?.restore()
    start(twoCalls, { loopback: true })
    expect(await (await fetch(url)).text()).toBe('real')
    expect(await failure(fetch('http://127.0.0.1.evil.test/'))).toBeInstanceOf(Error)
    wire?.restore()
    await new Promise((resolve) => server.close(resolve))
  })

  it('refuses to start where nock is switched off', () => {
    const before = process.env.NOCK_OFF
    process.env.NOCK_OFF = 'true'
    try {
      expect(() => replay(twoCalls)).toThrow(expect.objectContaining({ code: 'REPLAY_OFF' }))
    } finally {
      if (before === undefined) delete process.env.NOCK_OFF
      else process.env.NOCK_OFF = before
    }
  })

  it('a miss that quotes "timeout" is not taken for one by SDKs that look for the word', async () => {
    start(twoCalls)
    const error = (await failure(ask({ model: 'request timed out, timeout, time out' }))) as Error
    const cause = error.cause instanceof Error ? error.cause : error
    expect(cause.message).not.toMatch(/time(d)? ?out/i)
  })
})

describe('createReplayServer', () => {
  let server: ReplayServer | undefined
  afterEach(() => server?.close())

  it('answers over real HTTP, whatever its own host is', async () => {
    server = await createReplayServer(twoCalls)
    const answer = await ask(first, `${server.url}/v1/answers`)
    expect([answer.status, await answer.json()]).toEqual([200, { text: 'first' }])
    expect(server.requests[0]?.body).toEqual(first)
    expect((await ask(second, `${server.url}/v1/answers`)).status).toBe(429)
    server.done()
  })

  it('answers a miss with 400 and the difference, and done fails', async () => {
    server = await createReplayServer(twoCalls)
    const answer = await ask({ model: 'large' }, `${server.url}/v1/answers`)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(await answer.json())).toContain('REPLAY_MISS')
    const failing = server
    expect(() => failing.done()).toThrow(/body\.model/)
  })

  it('streams events and breaks where the fixture says', async () => {
    const events = [{ data: 'one' }, { data: 'two' }]
    server = await createReplayServer({
      protocol: 'openai-chat',
      exchanges: [{ request: post, response: { events, breakAfter: 1 } }],
    })
    expect(server.baseUrl).toBe(`${server.url}/v1`)
    const answer = await ask({}, `${server.baseUrl}/answers`)
    expect(await failure(answer.text())).toBeInstanceOf(Error)
  })
})
