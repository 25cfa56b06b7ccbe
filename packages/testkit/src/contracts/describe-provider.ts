import { describe, it } from 'vitest'
import type { MakeProvider, ProviderFixtures } from './provider-rig.js'
import { providerRows } from './provider-rows.js'

/**
 * Holds an adapter to what core relies on: the same reply plain and as a stream, ids that are unique, usage that tells
 * "not reported" from 0, an explicit output cap, reasoning that goes back to its own provider alone, errors that are
 * translated once and show no key, streams that break with what they had, a signal that ends the call and is let go, and
 * connections that never mix. The answers are served over HTTP on loopback; fixtures are in the protocol's own wire format.
 *
 * @example
 * describeProvider('acme', ({ baseUrl, apiKey }) => acme({ baseUrl, apiKey }), { text, calls, broken, errors })
 */
export function describeProvider(name: string, makeProvider: MakeProvider, fixtures: ProviderFixtures): void {
  describe(`provider contract: ${name}`, () => {
    for (const row of providerRows(makeProvider, fixtures)) {
      if (row.skip === true) it.skip(row.title)
      else it(row.title, () => row.run())
    }
  })
}
