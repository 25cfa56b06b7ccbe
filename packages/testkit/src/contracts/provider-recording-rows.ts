import assert from 'node:assert/strict'
import { join } from 'node:path'
import { ProviderError } from '@sluice/core'
import type { Recording } from '../recordings/recording.js'
import { readRecordings } from '../recordings/recording.js'
import type { ContractRow } from './contract-row.js'
import type { MakeProvider } from './provider-rig.js'
import { readStream, thrownBy, withRig } from './provider-rig.js'

/** Every recording of a folder is understood, or comes out as the error that it is. */
export function providerRecordingRows(make: MakeProvider, folder: string): readonly ContractRow[] {
  const recordings = readRecordings(folder)
  if (recordings.length === 0)
    return [{ title: `there are recordings in ${folder}`, run: () => assert.fail('there are none') }]
  return recordings.map(({ file, recording }) => ({
    title: `understands the recording ${join(folder, file)}`,
    run: () => understands(make, recording),
  }))
}

function understands(make: MakeProvider, { exchanges }: Recording): Promise<void> {
  return withRig(make, async ({ server, provider, request }) => {
    for (const { response } of exchanges) {
      server.answer(response)
      const streamed = response.bodyText !== undefined
      const thrown = await thrownBy(
        streamed ? readStream(provider, request) : provider.generate(request, new AbortController().signal),
      )
      if (response.status >= 400) assert.ok(ProviderError.isInstance(thrown), 'an error answer came out as none')
      else assert.ok(thrown === undefined || ProviderError.isInstance(thrown), `it threw ${String(thrown)}`)
    }
  })
}
