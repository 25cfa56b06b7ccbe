import { ProviderError } from '@sluice/core'
import type { ExchangeServer, RecordedResponse } from '@sluice/testkit'
import { serveExchanges } from '@sluice/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdapterUnderTest } from './recorded/adapters.js'
import { ADAPTERS, TEST_KEY } from './recorded/adapters.js'
import type { Outcome, Placed } from './recorded/exchanges.js'
import { call, exchangesOf, isFailure, requestOf } from './recorded/exchanges.js'
import { expectedFromAnthropic } from './recorded/expected-anthropic.js'
import { expectedFromChat } from './recorded/expected-chat.js'
import { EXPECTED_ERRORS } from './recorded/expected-errors.js'
import { expectedFromGoogle } from './recorded/expected-google.js'
import { expectedFromOci } from './recorded/expected-oci.js'
import { expectedFromOllama } from './recorded/expected-ollama.js'
import { expectedFromResponses } from './recorded/expected-responses.js'
import type { Raw } from './recorded/raw-json.js'
import { rawEvents } from './recorded/raw-json.js'
import { hasRecordings, recordingsFolder } from './recorded/recordings-folder.js'
import type { ReplyFacts } from './recorded/reply-facts.js'
import { factsOf } from './recorded/reply-facts.js'

const EXPECTED: Record<AdapterUnderTest['name'], (recorded: RecordedResponse, request: unknown) => ReplyFacts> = {
  'openai-responses': expectedFromResponses,
  'openai-chat': expectedFromChat,
  anthropic: expectedFromAnthropic,
  google: expectedFromGoogle,
  ollama: expectedFromOllama,
  'ollama-v1': expectedFromChat,
  oci: expectedFromOci,
  'xai-responses': expectedFromResponses,
  'xai-chat': expectedFromChat,
  openrouter: expectedFromChat,
}

const RATE_LIMIT = /^(x-ratelimit-|anthropic-ratelimit-|retry-after)/

// the one line for all three suites over the recordings
if (!hasRecordings) console.log(`skipped: no recordings at ${recordingsFolder} (set SLUICE_RECORDINGS)`)

describe.skipIf(!hasRecordings)('recorded replies', () => {
  let server: ExchangeServer
  beforeAll(async () => {
    server = await serveExchanges()
  })
  afterAll(() => server.close())

  describe.each(ADAPTERS.map((adapter) => [adapter.name, adapter] as const))('%s', (_name, adapter) => {
    const placed = exchangesOf(adapter)
    const covered = new Set<string>()

    it.each(placed.map((each) => [each.name, each] as const))('understands %s whole', async (name, each) => {
      const provider = adapter.make({ url: server.url }, each.exchange.request.url)
      server.answer(each.exchange.response)
      const streamed = each.exchange.response.bodyText !== undefined
      const outcome = await call(provider, requestOf(adapter, provider.id, each.exchange), streamed)
      if (isFailure(each.exchange)) expectError(name, each, outcome)
      else expectReply(adapter, each, outcome, provider.id)
      covered.add(name)
    })

    it('covers every file and exchange of its folders', () => {
      const files = new Set(placed.map((each) => each.file))
      console.log(`${adapter.name}: ${covered.size} exchanges of ${files.size} recordings`)
      expect(covered.size).toBe(placed.length)
      expect(files.size).toBeGreaterThanOrEqual(adapter.floor.files)
      expect(placed.length).toBeGreaterThanOrEqual(adapter.floor.exchanges)
    })
  })

  it('knows every recorded error', () => {
    const failures = ADAPTERS.flatMap(exchangesOf).filter((each) => isFailure(each.exchange))
    expect(Object.keys(EXPECTED_ERRORS).sort()).toEqual(failures.map((each) => each.name).sort())
  })
})

function expectReply(adapter: AdapterUnderTest, { exchange }: Placed, outcome: Outcome, providerId: string): void {
  if ('error' in outcome) throw outcome.error
  const { reply, deltas } = outcome
  const expected = EXPECTED[adapter.name](exchange.response, exchange.request.body)
  expect(factsOf(reply, providerId)).toEqual(expected)
  expect(JSON.parse(JSON.stringify(reply))).toEqual(reply)
  expect(reply.usageMismatch).toBeUndefined()
  const limits = Object.entries(exchange.response.headers).filter(([header]) => RATE_LIMIT.test(header))
  expect(reply.rateLimit ?? {}).toEqual(Object.fromEntries(limits))
  if (exchange.response.bodyText === undefined) return
  const joined = (type: string) =>
    deltas.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')
  expect(joined('text_delta')).toBe(expected.text)
  expect(joined('reasoning_delta')).toBe(expected.reasoning.join(''))
  for (const [index, { id, name, args }] of expected.calls.entries()) {
    const own = deltas.filter((part) => part.type === 'tool_call_delta').filter((part) => part.index === index)
    expect(own[0]).toMatchObject({ toolCallId: id, toolName: name })
    const text = own.map((part) => part.argsDelta).join('')
    expect(text === '' ? '{}' : text.replace(/\s/g, '')).toBe(args.replace(/\s/g, ''))
  }
}

/** What an error answer says: Ollama puts the text itself under `error`. */
function textOf(body: Raw): string {
  return typeof body.error === 'string' ? body.error : (body.error ?? body).message
}

/** The status that an error in the middle of a stream says it stands for. */
function statusInside({ bodyText = '' }: RecordedResponse): number | undefined {
  const [inside] = rawEvents(bodyText).flatMap((event) =>
    typeof event.error?.code === 'number' ? [event.error.code] : [],
  )
  return inside as number | undefined
}

function expectError(name: string, { exchange }: Placed, outcome: Outcome): void {
  const error = 'error' in outcome ? outcome.error : undefined
  if (!ProviderError.isInstance(error)) throw error ?? new Error('a reply came where an error was recorded')
  const { response } = exchange
  expect({ code: error.code, retryable: error.retryable }).toEqual(EXPECTED_ERRORS[name])
  expect(error.status).toBe(response.status >= 400 ? response.status : statusInside(response))
  expect(error.sent).toBe('yes')
  const body = response.body as Raw | undefined
  if (body !== undefined) expect(error.message).toContain(textOf(body))
  if (body?.request_id !== undefined) expect(error.requestId).toBe(body.request_id)
  if (response.headers['retry-after'] !== undefined)
    expect(error.retryAfterMs).toBe(Number(response.headers['retry-after']) * 1000)
  expect(error.message).not.toContain(TEST_KEY)
  expect(error.cause).toBeInstanceOf(Error)
}
