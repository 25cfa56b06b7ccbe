import { expect, it } from 'vitest'
import { findImportWork } from './contracts/import-work.js'

it('T-16: importing the testkit does no work; nock, which patches http and fetch when it is loaded, is not loaded', async () => {
  expect(await findImportWork(new URL('./index.ts', import.meta.url), ['sluice-source'])).toEqual([])
  const fetchBefore = globalThis.fetch
  await import('./index.js')
  expect(globalThis.fetch).toBe(fetchBefore)
}, 60_000)
