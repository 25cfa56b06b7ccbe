import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { reply } from '@sluice/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deepDesk } from './support/deep-desk.js'
import { failureOf } from './support/house.js'

const ALL = { scope: 'all' } as const
const CHILD = fileURLToPath(new URL('./other-process.child.ts', import.meta.url))

/** Starts the child; `until` kills it at the first line that fits. Resolves with its lines when it has ended. */
function otherProcess(mode: string, folder: string, until?: (line: string) => boolean): Promise<string[]> {
  const child = spawn(process.execPath, ['--conditions=sluice-source', '--import', 'tsx', CHILD, mode, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    if (until?.(line) === true) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.on('close', () => resolve(lines)))
}

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-runs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function open(folder: string, script: Parameters<typeof deepDesk>[2]) {
  const store = await createLowdbStore({ folder })
  const diary: string[] = []
  const desk = await deepDesk(store, { note: (line) => diary.push(line) }, script)
  onTestFinished(async () => {
    await desk.runtime.close()
    await store.close()
  })
  return { ...desk, diary, store }
}

describe('a run that another process began', () => {
  // cites: S-6
  it('is resumed here, three runs deep, from the folder store: nothing that ran runs again, everything is one run', async () => {
    const folder = folderOfTest()
    const before = await otherProcess('pause', folder)
    expect(before.slice(0, -1)).toEqual([
      'looked',
      'looked',
      'asked write_note attempt 1 state 1 undecided',
      'asked write_note attempt 1 state 1 undecided',
    ])
    const [, executionId = '', status, pending] = /^run (\S+) (\S+) (.+)$/.exec(before.at(-1) ?? '') ?? []
    expect([status, JSON.parse(pending ?? '')]).toEqual([
      'paused',
      [
        ['bottom', 'write_note', { text: 'a' }],
        ['bottom', 'write_note', { text: 'b' }],
      ],
    ])
    const { runtime, provider, diary } = await open(folder, [
      reply('bottom done'),
      reply('middle done'),
      reply('all done'),
    ])
    const waiting = await runtime.executions.get(executionId, { scope: { tenant: 'acme' } })
    expect([waiting.status, waiting.pending.length]).toEqual(['paused', 2])
    // with one answer missing it is asked again and stays paused
    const [first, second] = waiting.pending
    const acme = { scope: { tenant: 'acme' } } as const
    await runtime.decide(executionId, { effectId: first?.effectId as string, decision: 'approve', by: 'tom', ...acme })
    const still = await runtime.resume(executionId, acme)
    expect([
      still.status,
      still.pending.map((one) => one.effectId),
      diary.filter((line) => line.startsWith('wrote')),
    ]).toEqual(['paused', [second?.effectId], []])
    await runtime.decide(executionId, {
      effectId: second?.effectId as string,
      decision: 'deny',
      note: 'Not b.',
      by: 'tom',
      ...acme,
    })
    const run = await runtime.resume(executionId, acme)
    expect([run.status, run.text, run.executionId]).toEqual(['completed', 'all done', executionId])
    expect(diary).toEqual([
      'asked write_note attempt 2 state 1 approve',
      'asked write_note attempt 2 state 1 undecided',
      'asked write_note attempt 3 state 1 approve',
      'asked write_note attempt 3 state 1 deny',
      'looked',
      'wrote a as /m1.t2/run/m1.t2/run/m1.t2 for petra.k',
      'afterExecution completed recovered false',
    ])
    const told = provider.requests[0]?.messages.at(-1)
    expect(told?.role === 'tool' && told.content.map((part) => [part.result, part.status])).toEqual([
      ['seen', 'ok'],
      ['wrote a', 'ok'],
      ['Not b.', 'refused'],
    ])
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: executionId })).items
    expect(
      rows.map((row) => [row.agentCode, row.depth, row.status, row.toolCallsCount, row.inputTokens, row.createdBy]),
    ).toEqual([
      ['bottom', 2, 'completed', 3, 20, 'petra.k'],
      ['middle', 1, 'completed', 2, 20, 'petra.k'],
      ['top', 0, 'completed', 2, 20, 'petra.k'],
    ])
    const log = (await runtime.sessions.messages('s-1', ALL)).items
    expect(log.map((row) => row.role)).toEqual([
      'system',
      'user',
      'tool_call',
      'tool_call',
      'tool_result',
      'tool_result',
      'assistant',
    ])
    const header = await runtime.sessions.get('s-1', ALL)
    expect([header.turnCount, header.inputTokens, header.status, header.messageCount]).toEqual([1, 60, 'completed', 7])
    const receipts = await runtime.executions.receipts(executionId, ALL)
    const note = receipts.filter(
      (receipt) => receipt.effectId.endsWith('/run/m1.t2') && receipt.subject === 'write_note',
    )
    expect(note.map((receipt) => [receipt.attempt, receipt.outcome, receipt.sent])).toEqual([
      [1, 'not_run', 'no'],
      [2, 'not_run', 'no'],
      [3, 'ok', 'yes'],
    ])
    expect((await failureOf(runtime.resume(executionId, ALL))).code).toBe('NOT_PAUSED')
  }, 60_000)

  // cites: S-W8, S-22, CASE-13, CASE-18
  it('and that died in the middle is found, marked, told, and its session carried on with a valid history', async () => {
    const folder = folderOfTest()
    const before = await otherProcess('hang', folder, (line) => line.startsWith('result'))
    expect(before.at(-1)).toMatch(/^result/)
    const { runtime, provider, diary } = await open(folder, [reply('carried on')])
    expect(diary).toEqual(['afterExecution failed recovered true'])
    const rows = (await runtime.executions.list(ALL)).items
    expect(rows.map((row) => [row.agentCode, row.status, row.failureKind, row.completedAt !== null])).toEqual([
      ['bottom', 'failed', 'crashed', true],
      ['middle', 'failed', 'crashed', true],
      ['top', 'failed', 'crashed', true],
      ['bottom', 'completed', null, true],
    ])
    for (const row of rows.slice(0, 3)) expect([row.inputTokens, row.error?.code]).toEqual([null, 'RUN_CRASHED'])
    const header = await runtime.sessions.get('s-1', ALL)
    expect([header.status, header.turnCount]).toEqual(['failed', 2])
    const run = await runtime.execute({
      agent: 'bottom',
      followUp: 'And?',
      sessionId: 's-1',
      caller: { user: 'petra.k', tenant: 'acme', audience: 'authenticated' },
    })
    expect(run.text).toBe('carried on')
    expect(provider.requests[0]?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ])
  }, 60_000)
})
