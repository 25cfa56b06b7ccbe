import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewMessageRecord, SessionRecord, Store } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { Side } from '../measure/interleave.js'
import type { SuiteOptions } from './suite-options.js'

const WRITES = 500
const SMALL = 10
const LARGE = 10_000

/** What one write costs in session 10 000 of a folder against session 10 of another: 500 writes each, in turn. */
export async function storeSuite(options: SuiteOptions): Promise<Figure[]> {
  const name = 'store/write-in-session-10000'
  if (!options.wants(name)) return []
  options.progress(name)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  const small = await createLowdbStore({ folder: join(folder, 'small') })
  const large = await createLowdbStore({ folder: join(folder, 'large') })
  try {
    await fill(small, SMALL)
    await fill(large, LARGE)
    const side = (label: string, store: Store, session: number): Side => {
      let row = 0
      return { name: label, slice: () => writeOf(store, `session-${session}`, ++row) }
    }
    const sides = [side('small', small, SMALL), side('again', small, SMALL - 1), side('large', large, LARGE)]
    const nothing = (): void => undefined
    await interleave(sides, 20, nothing)
    const samples = await interleave(sides, WRITES, nothing)
    const of = (label: string) => samples.get(label) as readonly number[]
    return [ratioFigure(name, 'us a write', { subject: of('large'), floor: of('small'), again: of('again') }, 1.2)]
  } finally {
    await small.close()
    await large.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeOf(store: Store, sessionId: string, number: number): Promise<number> {
  const before = process.hrtime.bigint()
  await store.messages.append(sessionId, [row(sessionId, number)])
  return Number(process.hrtime.bigint() - before) / 1_000
}

async function fill(store: Store, sessions: number): Promise<void> {
  for (let from = 1; from <= sessions; from += 500) {
    const batch = Array.from({ length: Math.min(500, sessions - from + 1) }, (_, index) => `session-${from + index}`)
    await Promise.all(batch.map((id) => store.sessions.update(id, () => header(id))))
    await Promise.all(batch.map((id) => store.messages.append(id, [row(id, 0)])))
  }
}

function row(sessionId: string, number: number): NewMessageRecord {
  return {
    id: `${sessionId}-${number}`,
    sessionId,
    executionId: 'run',
    role: 'user',
    content: 'Is INV-7 due?',
    agentCode: null,
    toolName: null,
    toolCallId: null,
    toolInput: null,
    toolOutput: null,
    toolStatus: null,
    errorReference: null,
    messageIndex: number,
    round: 0,
    part: null,
    createdAt: number,
  }
}

function header(sessionId: string): SessionRecord {
  return {
    sessionId,
    rootAgentId: 'agent',
    title: null,
    feedbackRating: null,
    feedbackComment: null,
    feedbackAt: null,
    status: 'completed',
    turnCount: 1,
    messageCount: 1,
    inputTokens: 1,
    outputTokens: 1,
    runContext: {},
    pausedExecutionId: null,
    startedAt: 1,
    lastActivityAt: 1,
    updatedAt: 1,
    createdBy: null,
    tenant: null,
    audience: 'db',
    appUser: null,
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
