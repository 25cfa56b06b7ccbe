import type { Message, ModelRequest } from '@sluice/core'
import type { ExchangeServer } from '@sluice/testkit'
import { serveExchanges } from '@sluice/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTERS } from './recorded/adapters.js'
import { reconcile } from './recorded/difference.js'
import { DIFFERENCES } from './recorded/differences.js'
import type { Placed } from './recorded/exchanges.js'
import { call, exchangesOf, isFailure, requestOf } from './recorded/exchanges.js'
import type { Raw } from './recorded/raw-json.js'
import { hasRecordings } from './recorded/recordings-folder.js'

/** Bodies that the samples hold in the form of the other OpenAI protocol: they are read, but there is nothing to compare. */
const OTHER_FORM = new Set(['uc-ai/openai-responses/structured-output#0', 'uc-ai/openai-chat/structured-output#0'])

/** Rounds after which the client went on from another reply than the model gave. */
const OTHER_REPLY = new Set(['openai-responses/reasoning-modified-history-error#0'])

describe.skipIf(!hasRecordings)('recorded requests', () => {
  let server: ExchangeServer
  beforeAll(async () => {
    server = await serveExchanges()
  })
  afterAll(() => server.close())

  describe.each(ADAPTERS.map((adapter) => [adapter.name, adapter] as const))('%s', (_name, adapter) => {
    const placed = exchangesOf(adapter).filter((each) => each.exchange.request.body !== null)
    const used = new Set<string>()
    let rounds = 0

    async function sent({ exchange }: Placed, request: ModelRequest): Promise<Raw> {
      const provider = adapter.make({ url: server.url }, exchange.request.url)
      server.answer(exchange.response)
      const { body, url } = exchange.request
      // a stream is asked for in the body, or by the address alone
      await call(provider, request, (body as Raw | null)?.stream === true || url.includes(':stream'))
      return JSON.parse(server.requests.at(-1)?.body ?? 'null') as Raw
    }

    function expectSame(name: string, recorded: unknown, ours: Raw): void {
      if (OTHER_FORM.has(name)) return
      const pair = { name, recorded: structuredClone(recorded) as Raw, ours: structuredClone(ours) }
      reconcile(pair, DIFFERENCES[adapter.name], used)
      expect(pair.ours).toEqual(pair.recorded)
    }

    it.each(placed.map((each) => [each.name, each] as const))('asks for the same as %s', async (name, each) => {
      const providerId = adapter.make({ url: server.url }, each.exchange.request.url).id
      const ours = await sent(each, requestOf(adapter, providerId, each.exchange))
      const chained = (each.exchange.request.body as Raw).previous_response_id
      // a chained request names only what is new: there is no history to send but in the next test
      if (typeof chained !== 'string') expectSame(name, each.exchange.request.body, ours)
    })

    it.each(placed.filter(({ next }) => next !== undefined).map((each) => [each.name, each] as const))(
      'goes on from %s as recorded',
      async (name, each) => {
        const { exchange, next } = each
        if (next === undefined || isFailure(exchange) || OTHER_REPLY.has(name)) return
        const provider = adapter.make({ url: server.url }, exchange.request.url)
        const before = requestOf(adapter, provider.id, exchange)
        const after = requestOf(adapter, provider.id, next)
        const tail = continuation(
          before.messages,
          after.messages,
          next.request.body as Raw,
          exchange.response.body as Raw,
        )
        if (tail === undefined) return
        rounds += 1
        server.answer(exchange.response)
        const outcome = await call(provider, before, exchange.response.bodyText !== undefined)
        if ('error' in outcome) throw outcome.error
        const { reply } = outcome
        const answer: Message = { role: 'assistant', content: reply.parts, provider: provider.id, model: reply.model }
        const messages = [...before.messages, answer, ...tail]
        const ours = await sent({ ...each, exchange: next }, { ...after, messages })
        expectSame(`${name}+1`, next.request.body, ours)
      },
    )

    it('accepts no difference that nobody has, and has seen conversations go on', () => {
      const unused = DIFFERENCES[adapter.name].map(({ what }) => what).filter((what) => !used.has(what))
      console.log(`${adapter.name}: ${placed.length} requests, ${rounds} rounds that go on`)
      expect(unused).toEqual([])
      const names = new Set(ADAPTERS.flatMap(exchangesOf).map((each) => each.name))
      expect([...OTHER_FORM, ...OTHER_REPLY].filter((name) => !names.has(name))).toEqual([])
      expect(rounds).toBeGreaterThanOrEqual(adapter.floor.rounds)
    })
  })
})

/**
 * What the recorded client added behind the reply of `before`: the results, and what a user said. `undefined` where the
 * next request is another conversation.
 */
function continuation(
  before: readonly Message[],
  after: readonly Message[],
  nextBody: Raw,
  answer: Raw | undefined,
): readonly Message[] | undefined {
  if (typeof nextBody.previous_response_id === 'string') {
    return nextBody.previous_response_id === answer?.id ? after : undefined
  }
  const same = before.every((message, index) => plain(message) === plain(after[index]))
  if (!same || after.length <= before.length) return undefined
  return after[before.length]?.role === 'assistant' ? after.slice(before.length + 1) : undefined
}

/** A message without what clients move from request to request. */
function plain(message: Message | undefined): string {
  return JSON.stringify(message, (key, value: unknown) => (key === 'providerOptions' ? undefined : value))
}
