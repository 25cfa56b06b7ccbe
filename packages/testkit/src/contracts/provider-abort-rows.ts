import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { deferred } from '../time/deferred.js'
import type { ContractRow } from './contract-row.js'
import type { MakeProvider, ProviderFixtures, ProviderRig } from './provider-rig.js'
import { aRequest, listenersOf, readStream, thrownBy, withRig } from './provider-rig.js'

/** How long a row waits for what should come at once, so that a failure has a name. */
const PATIENCE_MS = 3000

const REASON = new Error('the owner said stop')

/** The caller's signal ends a call, and nothing of the call stays on it. */
export function providerAbortRows(make: MakeProvider, fixtures: ProviderFixtures): readonly ContractRow[] {
  return [
    beforeRow(make),
    waitingRow(make),
    streamRow(make, fixtures),
    leaveRow(make, fixtures),
    listenersRow(make, fixtures),
    connectionsRow(make, fixtures),
  ]
}

function beforeRow(make: MakeProvider): ContractRow {
  return {
    title: 'CASE-05: a call that is aborted before it begins rejects with the reason and sends nothing',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        const signal = AbortSignal.abort(REASON)
        assert.equal(await thrownBy(Promise.resolve().then(() => provider.generate(request, signal))), REASON)
        assert.equal(await thrownBy(readStream(provider, request, signal)), REASON)
        assert.equal(server.requests.length, 0)
      }),
  }
}

function waitingRow(make: MakeProvider): ContractRow {
  return {
    title: 'CASE-05: abort ends a call that waits for its answer, with the reason, and closes the connection',
    run: () =>
      withRig(make, async (rig) => {
        for (const stream of [false, true]) {
          const controller = new AbortController()
          const { seen, closed } = hangingAnswer(rig)
          const work = stream
            ? readStream(rig.provider, rig.request, controller.signal)
            : rig.provider.generate(rig.request, controller.signal)
          const thrown = thrownBy(work)
          await soon(Promise.race([seen, thrown]), 'the request')
          controller.abort(REASON)
          assert.equal(await soon(thrown, 'the end of the call'), REASON)
          await soon(closed, 'the end of the connection')
        }
      }),
  }
}

function streamRow(make: MakeProvider, { broken }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-05: abort inside a stream throws the reason, and nothing comes after it',
    run: () =>
      withRig(make, async (rig) => {
        const controller = new AbortController()
        const { closed } = openAnswer(rig, broken.stream.bodyText ?? '')
        let after = 0
        const thrown = await thrownBy(
          (async () => {
            for await (const _part of rig.provider.stream(rig.request, controller.signal)) {
              if (controller.signal.aborted) after += 1
              controller.abort(REASON)
            }
          })(),
        )
        assert.equal(thrown, REASON)
        assert.equal(after, 0, `${after} parts came after the abort`)
        await soon(closed, 'the end of the connection')
      }),
  }
}

function leaveRow(make: MakeProvider, { broken }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-26: a consumer that leaves a stream early closes its connection and leaves no listener',
    run: () =>
      withRig(make, async (rig) => {
        const { signal } = new AbortController()
        const { closed } = openAnswer(rig, broken.stream.bodyText ?? '')
        for await (const _part of rig.provider.stream(rig.request, signal)) break
        await soon(closed, 'the end of the connection')
        assert.equal(listenersOf(signal), 0)
      }),
  }
}

function listenersRow(make: MakeProvider, { text, broken, errors }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-26: calls that end well, with an error or broken leave no listener on the signal',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        const { signal } = new AbortController()
        for (const [answer, stream] of [
          [text.whole, false],
          [text.stream, true],
          [errors.overloaded, false],
          [errors.overloaded, true],
          [broken.stream, true],
        ] as const) {
          server.answer(answer)
          await thrownBy(stream ? readStream(provider, request, signal) : provider.generate(request, signal))
          assert.equal(listenersOf(signal), 0)
        }
      }),
  }
}

function connectionsRow(make: MakeProvider, { text, requestKeys = true }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-27: calls at once with keys, headers and servers of their own never mix',
    run: () =>
      withRig(make, async ({ server, provider }) => {
        const tenants = Array.from({ length: 6 }, (_, index) => `tenant-${index}`)
        for (const _tenant of tenants) server.answer(text.whole)
        await Promise.all(
          tenants.map((tenant) => {
            const apiKey = `sk-${tenant}-0123456789`
            const headers = { 'x-tenant': tenant, ...(requestKeys ? {} : { 'x-tenant-key': apiKey }) }
            const connection = requestKeys ? { apiKey, headers } : { headers }
            const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: `I am ${tenant}` }] }]
            return provider.generate(aRequest({ messages, connection }), new AbortController().signal)
          }),
        )
        for (const { headers, body } of server.requests) {
          const tenant = String(headers['x-tenant'])
          assert.ok(JSON.stringify(headers).includes(`sk-${tenant}-0123456789`), `${tenant} was sent with another key`)
          assert.ok(body.includes(`I am ${tenant}`), `${tenant} was sent with another body`)
        }
        assert.equal(new Set(server.requests.map(({ headers }) => headers['x-tenant'])).size, tenants.length)
      }),
  }
}

/** An answer that never begins. */
function hangingAnswer({ server }: ProviderRig): { seen: Promise<void>; closed: Promise<void> } {
  const seen = deferred<void>()
  const closed = deferred<void>()
  server.answer((_request, response) => {
    whenClosed(response, closed.resolve)
    seen.resolve()
  })
  return { seen: seen.promise, closed: closed.promise }
}

/** An answer that begins with `text` and then goes on for ever. */
function openAnswer({ server }: ProviderRig, text: string): { closed: Promise<void> } {
  const closed = deferred<void>()
  server.answer((_request, response) => {
    whenClosed(response, closed.resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text)
  })
  return { closed: closed.promise }
}

/** `work`, or a failure that says what was waited for in vain. */
async function soon<Result>(work: Promise<Result>, what: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `waited in vain for ${what}` })), PATIENCE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function whenClosed(response: ServerResponse, tell: () => void): void {
  response.once('close', tell)
}
