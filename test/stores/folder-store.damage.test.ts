import type { Store } from '@sluice/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openOn, ROOT } from './support/live.js'
import { definitionRow } from './support/rows.js'
import { SimulatedDisk } from './support/simulated-disk.js'
import { checkWrites, type Known, write } from './support/workload.js'

const DAMAGES: Readonly<Record<string, (bytes: Buffer) => Buffer | undefined>> = {
  emptied: () => Buffer.alloc(0),
  'cut in the middle': (bytes) => bytes.subarray(0, bytes.length >> 1),
  'cut by one byte': (bytes) => bytes.subarray(0, -1),
  'cut by its last line': (bytes) => bytes.subarray(0, bytes.lastIndexOf('\n', -2) + 1),
  'replaced by other JSON': () => Buffer.from('{"hello":"world"}\n'),
  'replaced by as much other JSON': (bytes) =>
    Buffer.from(`${JSON.stringify('x'.repeat(Math.max(0, bytes.length - 3)))}\n`),
  'changed by one bit': (bytes) => {
    const changed = Buffer.from(bytes)
    const at = bytes.length >> 1
    changed[at] = (changed[at] as number) ^ 1
    return changed
  },
  removed: () => undefined,
}

const numbers = Array.from({ length: 40 }, (_, index) => index)
const known: Known = { begun: new Set(numbers), acknowledged: new Set(numbers) }

const disks = new Map<string, SimulatedDisk>()

beforeAll(async () => {
  disks.set('closed', await makeStore(40, true))
  disks.set('killed', await makeStore(24, false))
})

/** A store whose first writes lie in all kinds of files; the others too when it was closed, else in the redo log. */
async function makeStore(inFiles: number, isClosed: boolean): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk(ROOT)
  const first = await openOn(disk, 500)
  await first.agents.insert(definitionRow('d1', 'desk'))
  await first.journals.put('run-3', { version: 1, entries: [] })
  for (const number of numbers.slice(0, inFiles)) await write(first, number)
  await first.close()
  const second = await openOn(disk, 1_000_000)
  for (const number of numbers.slice(inFiles)) await write(second, number)
  if (isClosed) await second.close()
  return disk.afterKill(ROOT)
}

async function readAll(store: Store): Promise<void> {
  await checkWrites(store, known)
  expect((await store.agents.get('d1'))?.code).toBe('desk')
  expect(await store.journals.get('run-3')).toEqual({ version: 1, entries: [] })
}

describe.each(['closed', 'killed'])('CASE-18: a damaged file of a store that was %s', (kind) => {
  it.each(Object.entries(DAMAGES))(
    '%s: is refused by name, or nothing is missing; it is never overwritten',
    async (damage, change) => {
      const whole = disks.get(kind) as SimulatedDisk
      let refused = 0
      let harmless = 0
      for (const path of whole.paths) {
        const before = whole.contentOf(path) as Buffer
        const after = change(before)
        if (after?.equals(before) === true) continue
        const disk = whole.afterKill(ROOT)
        disk.replace(path, after)
        const fault = await openAndRead(disk)
        if (fault === undefined) {
          // everything was read and is there; in a killed store a newer value may lie in the redo log
          harmless += 1
          if (kind === 'closed' && damage !== 'changed by one bit') expect(path).toMatch(HARMLESS)
          continue
        }
        refused += 1
        const place = `${path} ${damage}: ${fault.message}`
        expect(fault.code, place).toBe('STORE_DAMAGED')
        expect(fault.details, place).toMatchObject({ file: expect.any(String), lastGood: expect.any(String) })
        // a catalogue that ends too early is found by the redo file that should then be there
        expect(fault.message.includes(path) || /catalogue\.jsonl/.test(place), place).toBe(true)
        // a store that opened may append behind it
        const left = disk.contentOf(path)
        if (after !== undefined) expect(left?.subarray(0, after.length).equals(after), place).toBe(true)
      }
      expect(refused).toBeGreaterThan(10)
      expect(harmless).toBeLessThan(6)
    },
  )
})

/** Files that promise nothing: the mark of what was acknowledged, and the lock of a process that is gone. */
const HARMLESS = /(redo-acked\.txt|lock-\d+\.json)$/

async function openAndRead(disk: SimulatedDisk) {
  let store: Store | undefined
  try {
    store = await openOn(disk)
    await readAll(store)
    return undefined
  } catch (error) {
    return error as { code?: string; message: string; details?: unknown }
  } finally {
    await store?.close()
  }
}
