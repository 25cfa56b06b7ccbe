import type { Store } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, defineTool } from '@sluice/core'
import type { AuditEntry } from '@sluice/hooks-audit'
import { audit, verifyEntries } from '@sluice/hooks-audit'
import { capturedLogger, fakeClock, fakeIds, reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openOn, ROOT } from '../../stores/support/live.js'
import { seeded } from '../../stores/support/random.js'
import { SimulatedDisk } from '../../stores/support/simulated-disk.js'
import { auditBench, NAMESPACE } from './support/desk-log.js'

/** Runs a desk with three tool calls whose audit log lies on `disk`; everything else lies elsewhere. */
async function runDesk(disk: SimulatedDisk) {
  const clock = fakeClock()
  const memory = createMemoryStore({ clock })
  const onDisk = await openOn(disk, 1_000_000)
  const store: Store = { ...memory, log: (space) => (space === NAMESPACE ? onDisk.log(space) : memory.log(space)) }
  /** Effect ids of what really happened. */
  const happened: string[] = []
  const tool = defineTool({
    code: 'pay',
    description: 'Pays an invoice.',
    effect: 'write',
    input: z.object({ invoice: z.string() }),
    handler: (_, context) => {
      happened.push(context.effectId)
      return 'paid'
    },
  })
  const agent = defineAgent({
    code: 'desk',
    description: 'A desk.',
    model: 'scripted/m',
    user: 'Go on.',
    tools: [tool],
  })
  const provider = scriptedProvider(
    ['a', 'b', 'c'].map((invoice) => reply.toolCall('pay', { invoice })).concat(reply('Done.')),
  )
  const runtime = await createRuntime({
    providers: [provider],
    agents: [agent],
    plugins: [audit()],
    store,
    clock,
    ids: fakeIds(),
    logger: capturedLogger(),
  })
  const code = await clock.settle(
    runtime.execute({ agent: 'desk' }).then(
      () => undefined,
      (error: { code: string }) => error.code,
    ),
  )
  await runtime.close()
  await onDisk.close().catch(() => undefined)
  return { code, happened, requests: provider.calls.length }
}

async function entriesOn(disk: SimulatedDisk): Promise<readonly AuditEntry[]> {
  const store = await openOn(disk, 1_000_000)
  const entries = await store.log(NAMESPACE).read('audit')
  await store.close()
  return entries.map(({ value }) => value as unknown as AuditEntry)
}

describe('CASE-28: the disk of the log fills up', () => {
  it('at any of its operations: what happened has its intent on the disk, after a power cut too, and the run is stopped by name', async () => {
    const whole = new SimulatedDisk(ROOT)
    expect(await runDesk(whole)).toMatchObject({ code: undefined, happened: { length: 3 }, requests: 4 })
    let opened = 0
    {
      const disk = new SimulatedDisk(ROOT)
      await (await openOn(disk, 1_000_000)).close()
      opened = disk.operations
    }
    let stopped = 0
    for (let failAt = opened; failAt < whole.operations; failAt++) {
      const disk = new SimulatedDisk(ROOT)
      disk.faultAt = () => (disk.operations >= failAt ? 'ENOSPC' : undefined)
      let ended: Awaited<ReturnType<typeof runDesk>>
      try {
        ended = await runDesk(disk)
      } catch {
        // it was full before the store was open: nothing ran
        continue
      }
      for (const after of [disk.afterKill(ROOT), disk.afterPowerCut(ROOT, seeded(failAt))]) {
        const entries = await entriesOn(after)
        const intents = new Set(
          entries.filter(({ event }) => event.endsWith('.intent')).map(({ effectId }) => effectId),
        )
        for (const effectId of ended.happened) expect(intents, `operation ${failAt}`).toContain(effectId)
        const models = entries.filter(({ event }) => event === 'model.intent')
        expect(ended.requests, `operation ${failAt}`).toBeLessThanOrEqual(models.length)
        expect(verifyEntries(entries), `operation ${failAt}`).toMatchObject({ ok: true })
      }
      if (ended.code !== undefined) {
        expect(ended.code).toBe('AUDIT_NOT_WRITTEN')
        stopped += 1
      }
    }
    expect(stopped).toBeGreaterThan(20)
  })

  it('20 concurrent writers on the folder store keep one chain, on an empty and on a filled log, over a kill', async () => {
    let disk = new SimulatedDisk(ROOT)
    const accepted = new Set<string>()
    for (const process of ['first', 'second']) {
      const store = await openOn(disk, 1_000_000)
      const writers = await Promise.all(Array.from({ length: 20 }, () => auditBench({}, store)))
      if (process === 'first') disk.crashAt = disk.operations + 11
      await Promise.all(
        writers.map(async (writer, place) => {
          for (let turn = 0; turn < 10; turn++) {
            const run = `${process}.${place}.${turn}`
            try {
              await writer.intent(run)
              accepted.add(run)
            } catch {
              return
            }
          }
        }),
      )
      if (process === 'first') {
        expect(accepted.size).toBeGreaterThan(0)
        expect(accepted.size).toBeLessThan(200)
        disk = disk.afterPowerCut(ROOT, seeded(1))
      } else await store.close()
    }
    const entries = await entriesOn(disk)
    const runs = entries.map(({ run }) => run as string)
    expect(new Set(runs).size).toBe(runs.length)
    for (const run of accepted) expect(runs).toContain(run)
    expect(verifyEntries(entries)).toMatchObject({ ok: true, size: runs.length, chained: runs.length })
  })
})
