import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { ModelProvider, ProviderErrorCode } from '@sluice/core'
import { ProviderError } from '@sluice/core'
import type { RecordedResponse } from '../recordings/recording.js'
import type { ContractRow } from './contract-row.js'
import type { MakeProvider, ProviderFixtures, ProviderRig } from './provider-rig.js'
import { aRequest, CONTRACT_KEY, readStream, textsOf, thrownBy, withRig } from './provider-rig.js'

const never = () => new AbortController().signal

/** What goes wrong comes out as a `ProviderError`, once, and nothing is repeated. */
export function providerFailureRows(make: MakeProvider, fixtures: ProviderFixtures): readonly ContractRow[] {
  const { unauthorized, rateLimited, overloaded } = fixtures.errors
  return [
    errorRow(make, 'credentials that are refused', unauthorized, 'PROVIDER_AUTH', false),
    errorRow(make, 'a request to slow down', rateLimited, 'PROVIDER_RATE_LIMITED', true, rateLimited.retryAfterMs),
    errorRow(make, 'a provider that is overloaded', overloaded, 'PROVIDER_OVERLOADED', true),
    secretRow(make, unauthorized),
    brokenRow(make, fixtures),
    resetRow(make, fixtures),
    unreachableRow(make),
  ]
}

function errorRow(
  make: MakeProvider,
  what: string,
  answer: RecordedResponse,
  code: ProviderErrorCode,
  retryable: boolean,
  retryAfterMs?: number,
): ContractRow {
  return {
    title: `CASE-12: ${what} is ${code}, asked for once, plain and as a stream`,
    run: () =>
      withRig(make, async (rig) => {
        for (const work of [plain, streamed]) {
          const asked = rig.server.requests.length
          rig.server.answer(answer)
          const error = await providerError(work(rig))
          assert.equal(error.code, code)
          assert.equal(error.retryable, retryable)
          assert.equal(error.status, answer.status)
          assert.equal(error.sent, 'yes')
          if (retryAfterMs !== undefined) assert.equal(error.retryAfterMs, retryAfterMs)
          assert.equal(rig.server.requests.length, asked + 1, 'the adapter asked again by itself')
        }
      }),
  }
}

function secretRow(make: MakeProvider, answer: RecordedResponse): ContractRow {
  return {
    title: 'no error shows the key, also where the provider quotes it',
    run: () =>
      withRig(make, async (rig) => {
        const quoting = { ...answer, headers: { ...answer.headers, 'set-cookie': `session=${CONTRACT_KEY}` } }
        for (const work of [plain, streamed]) {
          rig.server.answer(quoting)
          const error = await providerError(work(rig))
          const shown = [inspect(error, { depth: 10 }), JSON.stringify(error), String(error.stack)].join('\n')
          assert.ok(!shown.includes(CONTRACT_KEY), 'the key is in the error')
        }
      }),
  }
}

function brokenRow(make: MakeProvider, { broken }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-12: a stream that ends before its end event is PROVIDER_STREAM_BROKEN, with what had come',
    run: () =>
      withRig(make, async (rig) => {
        rig.server.answer(broken.stream)
        const error = await providerError(streamed(rig))
        assert.equal(error.code, 'PROVIDER_STREAM_BROKEN')
        assert.equal(error.sent, 'yes')
        assert.equal(textsOf(error.delivered?.parts ?? [], 'text'), broken.text)
      }),
  }
}

function resetRow(make: MakeProvider, { broken }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-12: a connection that breaks inside a stream is PROVIDER_STREAM_BROKEN, with what had come',
    run: () =>
      withRig(make, async (rig) => {
        rig.server.answer((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(broken.stream.bodyText, () => response.destroy())
        })
        const error = await providerError(streamed(rig))
        assert.equal(error.code, 'PROVIDER_STREAM_BROKEN')
        assert.equal(error.retryable, true)
        // how much of it arrived before the reset is not known
        assert.ok(broken.text.startsWith(textsOf(error.delivered?.parts ?? [], 'text')))
      }),
  }
}

function unreachableRow(make: MakeProvider): ContractRow {
  return {
    title: 'a refused connection is PROVIDER_UNREACHABLE, and nothing was sent',
    run: () =>
      withRig(make, async ({ server }) => {
        const provider = make({ baseUrl: server.url, apiKey: CONTRACT_KEY })
        await server.close()
        const error = await providerError(provider.generate(aRequest(), never()))
        assert.equal(error.code, 'PROVIDER_UNREACHABLE')
        assert.equal(error.retryable, true)
        assert.equal(error.sent, 'no')
        await provider.close?.()
      }),
  }
}

function plain({ provider, request }: { provider: ModelProvider; request: ProviderRig['request'] }): Promise<unknown> {
  return provider.generate(request, never())
}

function streamed({
  provider,
  request,
}: {
  provider: ModelProvider
  request: ProviderRig['request']
}): Promise<unknown> {
  return readStream(provider, request)
}

async function providerError(work: Promise<unknown>): Promise<ProviderError> {
  const thrown = await thrownBy(work)
  assert.ok(ProviderError.isInstance(thrown), `not a ProviderError: ${inspect(thrown)}`)
  return thrown
}
