import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PausedRun, Run, Store } from '@sluice/core'
import { createMemoryStore, defineTool } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { approval, noExfiltration } from '@sluice/hooks-policy'
import { failingStore, fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Ended } from '../../hooks/support/rig.js'
import { ALL, caught, desk, notes, rig } from '../../hooks/support/rig.js'

const NAMESPACE = 'plugin:hooks-policy/approval'
const NOTE = reply.toolCall('write_note', { text: 'a' })
const human = () => approval({ tools: ['write_note'] })

const paused = ({ run, error }: Ended): PausedRun => {
  if (run?.status !== 'paused') throw new Error(`the run is ${run?.status ?? error?.code}, not paused`)
  return run
}

async function over(store: Store, clock: ReturnType<typeof fakeClock>, script: Parameters<typeof rig>[0], seed = 0) {
  const { tool, calls } = notes()
  const given = await rig(script, { agents: [desk([tool])], plugins: [human()], store, clock, seed })
  const decideAll = async (run: PausedRun, by = 'boss') => {
    for (const { effectId } of run.pending)
      await given.runtime.decide(run.executionId, { effectId, decision: 'approve', by, ...ALL })
  }
  const resume = (run: PausedRun) => given.end(given.runtime.resume(run.executionId, ALL))
  return { ...given, calls, decideAll, resume }
}

describe('a store that fails under an approval', () => {
  it.each(['error', 'full', 'unknown', 'unknown-lost'] as const)(
    'when the question cannot be written (%s), nothing pauses and nothing runs',
    async (as) => {
      const clock = fakeClock()
      const store = failingStore(createMemoryStore({ clock }), [{ on: 'documents.transact', namespace: NAMESPACE, as }])
      const given = await over(store, clock, [NOTE])
      expect([(await given.run()).code, given.calls, store.struck]).toEqual(['HOOK_FAILED', [], 1])
    },
  )

  it.each(['error', 'hang', 'unknown', 'unknown-lost'] as const)(
    'when the use of an approval cannot be written (%s), the call does not run',
    async (as) => {
      const clock = fakeClock()
      const plan = [{ on: 'documents.transact' as const, namespace: NAMESPACE, nth: 2, as }]
      const store = failingStore(createMemoryStore({ clock }), plan)
      const given = await over(store, clock, [NOTE])
      const run = paused(await given.run())
      await given.decideAll(run)
      expect([(await given.resume(run)).code, given.calls, store.struck]).toEqual(['HOOK_FAILED', [], 1])
      store.release()
    },
  )

  it('when a use that came to nothing cannot be taken back, the approval counts as used: too early, never once too often', async () => {
    const clock = fakeClock()
    // each of the two closings of the first pause looks; the third closing is that of the call that was put off
    const plan = [3, 4, 5, 6].map((nth) => ({
      on: 'documents.update' as const,
      namespace: NAMESPACE,
      nth,
      as: 'error' as const,
    }))
    const store = failingStore(createMemoryStore({ clock }), plan)
    const given = await over(store, clock, [NOTE.toolCall('write_note', { text: 'b' })])
    const run = paused(await given.run())
    const [{ effectId = '' } = {}] = run.pending
    await given.runtime.decide(run.executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
    const between = paused(await given.resume(run))
    for (const { effectId: other, decision } of between.pending as unknown as {
      effectId: string
      decision: unknown
    }[]) {
      if (decision === null || decision === undefined)
        await given.runtime
          .decide(between.executionId, { effectId: other, decision: 'approve', by: 'boss', ...ALL })
          .catch(() => undefined)
    }
    const { code } = await given.resume(between)
    expect([code, given.calls]).toEqual(['APPROVAL_REPLAYED', []])
  })
})

describe('approvals in a folder store', () => {
  it('a run that paused is carried on by a process that opens the folder later', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-approval-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const clock = fakeClock()
    const before = await createLowdbStore({ folder, clock })
    const first = await over(before, clock, [NOTE])
    const caller = { user: 'petra.k', metadata: { desk: 7 } }
    // a folder store waits for the disk, not for the clock of the test
    const started = first.runtime.execute({ agent: 'desk', caller, runContext: { clerk: 'p' } }) as Promise<Run>
    const run = paused(await caught(started))
    await first.runtime.close()
    await before.close()
    const after = await createLowdbStore({ folder, clock })
    onTestFinished(() => after.close())
    const second = await over(after, clock, ['Done.'], 1)
    await second.decideAll(run)
    const resume = () => caught(second.runtime.resume(run.executionId, ALL))
    expect([(await resume()).run?.text, second.calls]).toEqual(['Done.', ['a']])
    expect((await resume()).code).toBe('NOT_PAUSED')
    await second.runtime.close()
  })
})

describe('approvals below the top', () => {
  it('a call of an agent behind a tool pauses the whole tree and runs once it is approved; the count is of the tree', async () => {
    const { tool, calls } = notes()
    const ask = defineTool({
      code: 'ask_below',
      description: 'Asks.',
      effect: 'read',
      agent: 'below',
      input: z.object({}),
    })
    const plugins = [approval({ tools: ['write_note'], maxAsks: 1 })]
    const agents = [desk([ask]), desk([tool], { code: 'below' })]
    const script = [reply.toolCall('ask_below', {}), NOTE, 'Below done.', reply.toolCall('ask_below', {}), NOTE]
    const given = await rig(script, { agents, plugins })
    const run = paused(await given.run())
    const [{ effectId = '', agentCode } = {}] = run.pending
    expect(agentCode).toBe('below')
    await given.runtime.decide(run.executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
    const ended = await given.end(given.runtime.resume(run.executionId, ALL))
    expect([ended.code, calls]).toEqual(['APPROVAL_LIMIT', ['a']])
  })

  it('a plain call cannot be paused, so it is stopped, and leaves nothing in the store', async () => {
    const { tool, calls } = notes()
    const given = await rig([NOTE], { plugins: [human()] })
    await expect(
      given.runtime.generateText({ model: 'scripted/m', prompt: 'Go on.', tools: [tool] }),
    ).rejects.toMatchObject({ code: 'PAUSE_STANDALONE' })
    expect(calls).toEqual([])
    expect((await given.store.documents(NAMESPACE).list([])).items).toEqual([])
  })
})

describe('two plugins that ask about one call', () => {
  it('each needs an answer to its own question; the one that was given first stays', async () => {
    const page = defineTool({
      code: 'read_page',
      description: 'Reads.',
      effect: 'read',
      untrusted: true,
      input: z.object({}),
      handler: () => 'Text.',
    })
    const { tool, calls } = notes({ effect: 'send' })
    const given = await rig([reply.toolCall('read_page', {}), NOTE, 'Done.'], {
      agents: [desk([page, tool])],
      plugins: [noExfiltration({ on: 'ask' }), human()],
    })
    let run = paused(await given.run())
    const codes: string[] = []
    for (let answer = 0; answer < 2; answer++) {
      const [{ effectId = '', code = '' } = {}] = run.pending
      codes.push(code)
      await given.runtime.decide(run.executionId, { effectId, decision: 'approve', by: `boss ${answer}`, ...ALL })
      const ended = await given.end(given.runtime.resume(run.executionId, ALL))
      if (ended.run?.status === 'paused') run = ended.run
      else expect(ended.run?.text).toBe('Done.')
    }
    expect([codes, calls]).toEqual([['EXFILTRATION', 'APPROVAL_REQUIRED'], ['a']])
  })
})
