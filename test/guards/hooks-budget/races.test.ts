import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Documents, JsonObject, Store } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { held, latch, repeat, reply } from '@sluice/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { budgetRig, CALL_NANO_USD, PETRA, watchedStore } from './rig.js'

const RUNS = 64

interface Window extends JsonObject {
  readonly spent: string
  readonly held: string
  readonly unknown: string
  readonly overrun: string
}

async function folderStore(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-budget-'))
  const store = await createLowdbStore({ folder })
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  return store
}

/** Reads every bucket after every step, as another process could. */
function reader(amounts: Readonly<Record<string, bigint>>) {
  const seen = { states: 0, worst: 0n, overruns: 0n }
  const look = async (documents: Documents) => {
    for (const { key, value } of (await documents.list(['limit'])).items) {
      const amount = amounts[key[1] as string] as bigint
      for (const window of (value as JsonObject).windows as unknown as readonly Window[]) {
        const used = BigInt(window.spent) + BigInt(window.held) + BigInt(window.unknown)
        seen.states += 1
        seen.overruns += BigInt(window.overrun)
        if (used - amount > seen.worst) seen.worst = used - amount
      }
    }
  }
  return { look, seen }
}

it.each([
  ['memory', 0],
  ['memory', 1],
  ['memory', 20],
  ['memory', RUNS],
  ['lowdb', 20],
] as const)(
  'CASE-08: of 64 runs behind a barrier on %s, a limit that admits %d lets exactly these reach the provider',
  async (kind, k) => {
    const amount = CALL_NANO_USD * BigInt(k) + (k === 0 ? 1n : CALL_NANO_USD - 1n)
    const { look, seen } = reader({ limit: amount })
    const store = watchedStore(kind === 'memory' ? createMemoryStore() : await folderStore(), look)
    const door = latch()
    const limits = [{ id: 'limit', scope: 'user', usd: `0.${amount.toString().padStart(9, '0')}` }] as const
    const { start, provider, api } = await budgetRig([repeat(held(door, reply('Done.')))], limits, { store })
    const barrier = latch()
    const runs = Array.from({ length: RUNS }, async () => {
      await barrier.wait()
      return start()
    })
    barrier.open()
    const refused: Promise<unknown>[] = []
    let stopped = 0
    for (const run of runs) refused.push(run.then(({ error }) => void (stopped += error === undefined ? 0 : 1)))
    // the provider answers nobody before all others are refused: nothing is given back meanwhile
    while (stopped < RUNS - k || provider.calls.length < k) await new Promise((resolve) => setImmediate(resolve))
    expect(provider.calls).toHaveLength(k)
    expect((await api.status(PETRA))[0]).toMatchObject({ held: CALL_NANO_USD * BigInt(k), spent: 0n })
    door.open()
    const ended = await Promise.all(runs)
    expect(provider.calls).toHaveLength(k)
    expect(ended.filter(({ run }) => run?.status === 'completed')).toHaveLength(k)
    for (const { error } of ended) {
      if (error === undefined) continue
      expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED', details: { limit: 'limit', asked: `${CALL_NANO_USD}` } })
      const { spent, held: holding, unknown, asked, amount: whole } = error.details as Record<string, string>
      expect(BigInt(spent ?? 0) + BigInt(holding ?? 0) + BigInt(unknown ?? 0) + BigInt(asked ?? 0)).toBeGreaterThan(
        BigInt(whole ?? 0),
      )
    }
    // a reply of the script: 10 tokens in, 5 out
    expect((await api.status(PETRA))[0]).toMatchObject({
      held: 0n,
      unknown: 0n,
      spent: 20_000n * BigInt(k),
      overrun: 0n,
    })
    expect(seen.worst).toBe(0n)
    expect(seen.overruns).toBe(0n)
    if (k > 0) expect(seen.states).toBeGreaterThan(RUNS)
  },
)

it('CASE-08: the tight one of two limits decides, and the wide one holds nothing of the refused', async () => {
  const { look, seen } = reader({ wide: 1_000_000_000n, tight: CALL_NANO_USD * 5n })
  const store = watchedStore(createMemoryStore(), look)
  const door = latch()
  const limits = [
    { id: 'wide', scope: 'app', usd: '1' },
    { id: 'tight', scope: 'user', per: 'day', usd: '0.015' },
  ] as const
  const { start, provider, api } = await budgetRig([repeat(held(door, reply('Done.')))], limits, { store })
  let stopped = 0
  const runs = Array.from({ length: RUNS }, () =>
    start().then((ended) => {
      stopped += ended.error === undefined ? 0 : 1
      return ended
    }),
  )
  while (stopped < RUNS - 5) await new Promise((resolve) => setImmediate(resolve))
  const [wide, tight] = await api.status(PETRA)
  expect([wide?.held, tight?.held]).toEqual([CALL_NANO_USD * 5n, CALL_NANO_USD * 5n])
  door.open()
  const ended = await Promise.all(runs)
  expect(provider.calls).toHaveLength(5)
  expect(ended.filter(({ error }) => error?.details?.limit === 'tight')).toHaveLength(RUNS - 5)
  expect(seen).toMatchObject({ worst: 0n, overruns: 0n })
})
