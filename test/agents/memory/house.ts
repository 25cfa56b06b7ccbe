import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { AgentMemoryOptions } from '@sluice/agents'
import { createMemory } from '@sluice/agents'
import type { FakeClock, Script } from '@sluice/testkit'
import { fakeClock, reply } from '@sluice/testkit'
import { onTestFinished } from 'vitest'
import type { HouseOptions } from '../../runs/support/house.js'
import { desk, house } from '../../runs/support/house.js'

export const ALL = { scope: 'all' } as const
export const ASK = { question: 'Is INV-7 due?' } as const

/** A way to make a store, and its name. */
export type StoreMaker = readonly [name: string, make: (clock: FakeClock) => Promise<Store> | Store]

export const STORES: readonly StoreMaker[] = [
  ['memory', (clock) => createMemoryStore({ clock })],
  [
    'lowdb',
    async (clock) => {
      const folder = mkdtempSync(join(tmpdir(), 'agent-memory-'))
      const store = await createLowdbStore({ folder, clock } as never)
      // registered before the runtime of the test, so it is closed after it
      onTestFinished(async () => {
        await store.close()
        rmSync(folder, { recursive: true, force: true })
      })
      return store
    },
  ],
]

/** A runtime whose agents have memories. */
export async function openMemory(
  script: Script,
  agents: AgentMemoryOptions['agents'],
  {
    make = STORES[0] as StoreMaker,
    memory: more = {},
    ...rest
  }: HouseOptions & { readonly make?: StoreMaker; readonly memory?: Partial<AgentMemoryOptions> } = {},
) {
  const clock = rest.clock ?? fakeClock()
  const store = rest.store ?? (await make[1](clock))
  const memory = createMemory({ store, ...(agents === undefined ? {} : { agents }), ...more })
  const made = await house(script, { agents: [desk()], ...rest, clock, store, extensions: [memory] })
  /** What the tool answered, call by call. */
  const answers = (): string[] =>
    (made.provider.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === 'tool' ? message.content.map((part) => String(part.result)) : [],
    )
  return { ...made, memory, answers }
}

/** A reply that calls the tool. */
export const use = (command: string, args: object = {}) => reply.toolCall('memory', { command, ...args } as never)
export const create = (path: string, file_text: string) => use('create', { path, file_text })
