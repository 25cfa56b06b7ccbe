import type { ModelReply } from '@sluice/core'
import type { Cuts, RecordedResponse } from '@sluice/testkit'
import { exchangeFetch, responseText } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { AdapterUnderTest } from './recorded/adapters.js'
import { ADAPTERS } from './recorded/adapters.js'
import type { Placed } from './recorded/exchanges.js'
import { call, exchangesOf, isFailure, requestOf } from './recorded/exchanges.js'
import { seededRandom } from './recorded/seeded-random.js'
import { hasRecordings } from './recorded/recordings-folder.js'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 1_000_000)
const RANDOM_CUTS = 3
const MOST_CUTS = 6000

/** Some base URL: nothing is sent there, the answer comes from memory. */
const NOWHERE = 'http://127.0.0.1:9'

describe.skipIf(!hasRecordings)('recorded streams in pieces', () => {
  if (hasRecordings) console.log(`recorded streams in pieces: seed ${SEED} (SLUICE_SEED)`)

  describe.each(ADAPTERS.map((adapter) => [adapter.name, adapter] as const))('%s', (_name, adapter) => {
    const streams = exchangesOf(adapter).filter((each) => each.exchange.response.bodyText !== undefined)
    const whole = streams.filter((each) => !isFailure(each.exchange))

    it.each(whole.map((each) => [each.name, each] as const))(
      'understands %s wherever it is cut',
      async (name, each) => {
        const expected = await read(adapter, each, [])
        const random = seededRandom(SEED + name.length)
        const length = bytesOf(each.exchange.response)
        for (let round = 0; round < RANDOM_CUTS; round++) {
          const cuts = Array.from({ length: 1 + random(40) }, () => random(length)).sort((left, right) => left - right)
          expect(await read(adapter, each, cuts), `seed ${SEED}, cuts ${cuts.join(' ')}`).toEqual(expected)
        }
        // in pieces of a few bytes: through every character, line and event
        const step = 5 + random(12)
        expect(await read(adapter, each, everyNth(length, step)), `pieces of ${step} bytes`).toEqual(expected)
      },
    )

    it.skipIf(whole.length === 0)('understands the shortest one cut at each of its bytes', async () => {
      const shortest = whole.reduce((left, right) =>
        bytesOf(left.exchange.response) <= bytesOf(right.exchange.response) ? left : right,
      )
      const expected = await read(adapter, shortest, [])
      const length = bytesOf(shortest.exchange.response)
      // a long one at every second or third byte, other ones in each run
      const step = Math.ceil(length / MOST_CUTS)
      for (let cut = 1 + (SEED % step); cut < length; cut += step) {
        expect(await read(adapter, shortest, [cut]), `${shortest.name} cut at ${cut}`).toEqual(expected)
      }
      expect(length).toBeGreaterThan(100)
    })

    it('has streams to cut', () => {
      console.log(`${adapter.name}: ${whole.length} streams in pieces`)
      expect(whole.length).toBeGreaterThanOrEqual(adapter.floor.streams)
    })
  })
})

async function read(adapter: AdapterUnderTest, { exchange }: Placed, cuts: Cuts): Promise<ModelReply> {
  const provider = adapter.make({ url: NOWHERE, fetch: exchangeFetch(exchange.response, cuts) }, exchange.request.url)
  const outcome = await call(provider, requestOf(adapter, provider.id, exchange), true)
  if ('error' in outcome) throw outcome.error
  return outcome.reply
}

function bytesOf(response: RecordedResponse): number {
  return Buffer.byteLength(responseText(response))
}

function everyNth(length: number, step: number): Cuts {
  return Array.from({ length: Math.floor(length / step) }, (_, index) => (index + 1) * step)
}
