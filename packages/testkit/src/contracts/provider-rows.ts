import type { ContractRow } from './contract-row.js'
import { providerAbortRows } from './provider-abort-rows.js'
import { providerFailureRows } from './provider-failure-rows.js'
import { providerRecordingRows } from './provider-recording-rows.js'
import { providerReplyRows } from './provider-reply-rows.js'
import type { MakeProvider, ProviderFixtures } from './provider-rig.js'

/** The rows of the provider contract, for a test runner of one's own. */
export function providerRows(make: MakeProvider, fixtures: ProviderFixtures): readonly ContractRow[] {
  return [
    ...providerReplyRows(make, fixtures),
    ...providerFailureRows(make, fixtures),
    ...providerAbortRows(make, fixtures),
    ...(fixtures.recordings === undefined ? [] : providerRecordingRows(make, fixtures.recordings)),
  ]
}
