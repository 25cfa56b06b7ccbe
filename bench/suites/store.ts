import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIds } from '@sluice/core'
import type { NewMessageRecord, SessionRecord, Store } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { SuiteOptions } from './suite-options.js'

const TARGET = 1.2
const FEW = 10
const MANY = 10_000
const WRITES = 500

/**
 * What one acknowledged write to the folder store takes. `folder`: in session 10 000 of a folder against session 10 of
 * another. `session`: in a session of 10 000 rows against one of 10, in one folder. Each sample is one write.
 */
export async function storeSuite(options: SuiteOptions): Promise<Figure[]> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  try {
    const figures: Figure[] = []
    if (options.wants('store/folder/10000-sessions')) figures.push(await folderGrows(root, options))
    if (options.wants('store/session/10000-rows')) figures.push(await sessionGrows(root, options))
    return figures
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function folderGrows(root: string, options: SuiteOptions): Promise<Figure> {
  options.progress('store/folder')
  const few = await createLowdbStore({ folder: join(root, 'few') })
  const many = await createLowdbStore({ folder: join(root, 'many') })
  await fill(few, FEW)
  await fill(many, MANY)
  const figure = await compare('store/folder/10000-sessions', options, {
    floor: () => append(few, sessionId(FEW)),
    again: () => append(few, sessionId(FEW - 1)),
    subject: () => append(many, sessionId(MANY)),
  })
  await few.close()
  await many.close()
  return figure
}

async function sessionGrows(root: string, options: SuiteOptions): Promise<Figure> {
  options.progress('store/session')
  const store = await createLowdbStore({ folder: join(root, 'rows') })
  await fill(store, 3)
  await store.messages.append(sessionId(3), rows(sessionId(3), MANY))
  const figure = await compare('store/session/10000-rows', options, {
    floor: () => append(store, sessionId(1)),
    again: () => append(store, sessionId(2)),
    subject: () => append(store, sessionId(3)),
  })
  await store.close()
  return figure
}

async function compare(
  name: string,
  options: SuiteOptions,
  writes: Readonly<Record<'floor' | 'again' | 'subject', () => Promise<unknown>>>,
): Promise<Figure> {
  const sides = Object.entries(writes).map(([side, write]) => ({ name: side, slice: () => timeOf(write) }))
  const slices = options.quick ? WRITES / 5 : WRITES
  await interleave(sides, 20, () => undefined)
  const samples = await interleave(sides, slices, () => undefined)
  const of = (side: string): readonly number[] => samples.get(side) as readonly number[]
  return ratioFigure(name, 'us a write', { subject: of('subject'), floor: of('floor'), again: of('again') }, TARGET)
}

async function timeOf(write: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await write()
  return (performance.now() - began) * 1000
}

/** Sessions 1 to `count`, each with a header and a turn of ten rows. */
async function fill(store: Store, count: number): Promise<void> {
  for (let from = 1; from <= count; from += 500) {
    const writes: Promise<unknown>[] = []
    for (let number = from; number < from + 500 && number <= count; number++) {
      const id = sessionId(number)
      writes.push(
        store.sessions.update(id, () => header(id)),
        store.messages.append(id, rows(id, 10)),
      )
    }
    await Promise.all(writes)
  }
}

function append(store: Store, id: string): Promise<unknown> {
  return store.messages.append(id, rows(id, 1))
}

function sessionId(number: number): string {
  return `session-${number}`
}

const ids = createIds()

function rows(id: string, count: number): NewMessageRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    id: ids.id(),
    sessionId: id,
    executionId: '01940000-0000-7000-8000-000000000000',
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: 'Invoice 4711 of Hartmann Office Supplies agrees with purchase order PO-88213 and can be paid.',
    agentCode: 'ap_desk',
    toolName: null,
    toolCallId: null,
    toolInput: null,
    toolOutput: null,
    toolStatus: null,
    errorReference: null,
    messageIndex: index,
    round: 0,
    part: null,
    createdAt: 1_780_000_000_000,
  }))
}

function header(id: string): SessionRecord {
  return {
    sessionId: id,
    rootAgentId: 'agent',
    title: null,
    feedbackRating: null,
    feedbackComment: null,
    feedbackAt: null,
    status: 'completed',
    turnCount: 1,
    messageCount: 10,
    inputTokens: 612,
    outputTokens: 74,
    runContext: {},
    pausedExecutionId: null,
    startedAt: 1_780_000_000_000,
    lastActivityAt: 1_780_000_000_000,
    updatedAt: 1_780_000_000_000,
    createdBy: 'petra.k',
    tenant: null,
    audience: 'authenticated',
    appUser: 'petra.k',
    appId: null,
    appSessionId: null,
    appPageId: null,
    ipAddress: null,
    host: null,
    osUser: null,
    module: null,
    action: null,
    clientIdentifier: null,
    envContext: {},
  }
}
