import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import { createIds } from '../internal/ids.js'
import type { Message, ToolResultPart } from '../messages/message.js'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import type { ExecutionRecord } from '../store/records.js'
import type { Store } from '../store/store.js'
import { loadHistory } from './history.js'
import type { RowTarget } from './message-rows.js'
import { toRows } from './message-rows.js'
import { INTERRUPTED_CALL } from './repair-history.js'
import { historyFaults } from './testing/any-messages.js'
import { executionOf } from './testing/records.js'

const ids = createIds(() => 0)
const system: Message = { role: 'system', content: 'You are the desk.' }
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const says = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] })
const asks = (...callIds: string[]): Message => ({
  role: 'assistant',
  content: callIds.map((toolCallId) => ({ type: 'tool_call', toolCallId, toolName: 'pay', args: '{}' })),
})
const result = (toolCallId: string): ToolResultPart => ({
  type: 'tool_result',
  toolCallId,
  toolName: 'pay',
  result: `paid ${toolCallId}`,
  status: 'ok',
})
const answers = (...callIds: string[]): Message => ({ role: 'tool', content: callIds.map(result) })
const lost = (toolCallId: string): ToolResultPart => ({
  ...result(toolCallId),
  result: INTERRUPTED_CALL,
  status: 'unknown',
})

interface Turn extends Partial<ExecutionRecord> {
  readonly id: string
  readonly messages?: readonly Message[]
  readonly target?: Partial<RowTarget>
}

/** A store with these turns of session s1, in this order. */
async function storeWith(...turns: Turn[]): Promise<Store> {
  const store = createMemoryStore()
  for (const [index, { messages, target, ...record }] of turns.entries()) {
    await store.executions.insert(executionOf({ startedAt: index, turnIndex: index + 1, ...record }))
    if (messages !== undefined) {
      await store.messages.append(
        's1',
        toRows(messages, {
          sessionId: 's1',
          executionId: record.id,
          agentCode: record.agentCode ?? 'ap_desk',
          ids,
          at: index,
          ...target,
        }),
      )
    }
  }
  return store
}

const load = (store: Store, agentCode = 'ap_desk') => loadHistory(store, { sessionId: 's1', agentCode, ids, at: 99 })
async function fault(run: Promise<unknown>): Promise<SluiceError> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!SluiceError.isInstance(error)) throw error
  return error
}

describe('loadHistory', () => {
  it('A-45, A-46, A-48, S-46: a follow-up gets the system message of the first turn and everything since, tool rounds included', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('pay 1'), asks('c1'), answers('c1'), says('paid')] },
      { id: 'x2', followUp: 'and 2', messages: [user('and 2'), says('paid too')] },
    )
    expect(await load(store)).toMatchObject({
      messages: [system, user('pay 1'), asks('c1'), answers('c1'), says('paid'), user('and 2'), says('paid too')],
      // who made each (S-43)
      by: [null, null, 'ap_desk', 'ap_desk', 'ap_desk', null, 'ap_desk'],
      repairRows: [],
    })
  })

  it('S-46: a long log is read in full', async () => {
    const many = Array.from({ length: 1300 }, (_, at) => (at % 2 === 0 ? user(`${at}`) : says(`${at}`)))
    const store = await storeWith({ id: 'x1', messages: many })
    expect((await load(store)).messages).toEqual(many)
  })

  it('A-49: turns of other agents in the session are left out', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('a'), says('b')] },
      { id: 'x2', agentCode: 'other', messages: [user('c'), says('d')] },
      { id: 'x3', followUp: 'e', messages: [user('e'), says('f')] },
    )
    expect((await load(store)).messages).toEqual([system, user('a'), says('b'), user('e'), says('f')])
    expect((await load(store, 'other')).messages).toEqual([user('c'), says('d')])
  })

  it('A-49: a later first turn begins another conversation', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('a'), says('b')] },
      { id: 'x2', messages: [system, user('new'), says('yes')] },
      { id: 'x3', followUp: 'more', messages: [user('more'), says('sure')] },
    )
    expect((await load(store)).messages).toEqual([system, user('new'), says('yes'), user('more'), says('sure')])
  })

  it('A-49: a first turn that failed begins nothing: the conversation before it goes on', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('a'), says('b')] },
      { id: 'x2', status: 'failed', messages: [system, user('broken')] },
      { id: 'x3', followUp: 'c', messages: [user('c'), says('d')] },
    )
    expect((await load(store)).messages).toEqual([system, user('a'), says('b'), user('c'), says('d')])
  })

  it('S-22, CASE-13: a follow-up that failed stays in the conversation with what it got to', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('a'), says('b')] },
      { id: 'x2', status: 'failed', followUp: 'pay', messages: [user('pay'), asks('c1'), answers('c1')] },
    )
    expect((await load(store)).messages).toEqual([system, user('a'), says('b'), user('pay'), asks('c1'), answers('c1')])
  })

  it('a reply that a gate took back is in no later history', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('a'), says('b')] },
      {
        id: 'x2',
        status: 'failed',
        followUp: 'c',
        messages: [user('c'), asks('c1')],
        target: { withheld: (index) => index === 1 },
      },
    )
    expect(await load(store)).toMatchObject({ messages: [system, user('a'), says('b'), user('c')], repairRows: [] })
  })

  it.each<[string, Turn[]]>([
    ['an empty session', []],
    ['a session in which only another agent ran', [{ id: 'x1', agentCode: 'other', messages: [user('a')] }]],
    [
      'a session in which every run failed',
      [
        { id: 'x1', status: 'failed' },
        { id: 'x2', status: 'timeout' },
      ],
    ],
    [
      'a session whose only completed run was nested',
      [
        { id: 'x1', agentCode: 'other' },
        { id: 'x2', turnIndex: null, parentExecutionId: 'x1', rootExecutionId: 'x1', depth: 1 },
      ],
    ],
    ['a session whose first turn is running', [{ id: 'x1', status: 'running', completedAt: null }]],
  ])('A-37: in %s there is nothing to follow up', async (_what, turns) => {
    const error = await fault(load(await storeWith(...turns)))
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.reason).toBe('follow_up.no_history')
    expect(error.message).toContain("'ap_desk'")
  })

  it.each([
    ['one call', ['c1'], [] as string[]],
    ['three parallel calls without any result', ['c1', 'c2', 'c3'], []],
    ['three parallel calls, the second answered', ['c1', 'c2', 'c3'], ['c2']],
  ])(
    'CASE-13: %s: an interrupted round is answered in place, and the log is repaired once',
    async (_what, calls, answered) => {
      const interrupted = [user('pay'), asks(...calls), ...(answered.length > 0 ? [answers(...answered)] : [])]
      const store = await storeWith(
        { id: 'x1', messages: [system, user('a'), says('b')] },
        { id: 'x2', status: 'failed', failureKind: 'crashed', followUp: 'pay', messages: interrupted },
        { id: 'x3', agentCode: 'other', messages: [user('between')] },
      )
      const whole = [
        system,
        user('a'),
        says('b'),
        user('pay'),
        asks(...calls),
        { role: 'tool', content: calls.map((id) => (answered.includes(id) ? result(id) : lost(id))) },
      ]
      const first = await load(store)
      expect(first.messages).toEqual(whole)
      expect(first.repairRows.map((row) => [row.toolCallId, row.toolStatus, row.executionId, row.agentCode])).toEqual(
        calls.filter((id) => !answered.includes(id)).map((id) => [id, 'unknown', 'x2', 'ap_desk']),
      )
      // the rows join the results that are there, else they stand behind the calls
      expect(first.repairRows.every((row) => row.messageIndex === (answered.length > 0 ? 2 : 1))).toBe(true)
      await store.messages.append('s1', first.repairRows)
      expect(await load(store)).toMatchObject({ messages: whole, repairRows: [] })
    },
  )

  it('CASE-13: a round that was interrupted in the middle of a conversation is repaired before what follows', async () => {
    const store = await storeWith(
      { id: 'x1', messages: [system, user('a'), asks('c1'), says('went on'), asks('c2', 'c3'), answers('c3')] },
      { id: 'x2', followUp: 'b', messages: [user('b'), says('c')] },
    )
    const whole = [
      system,
      user('a'),
      asks('c1'),
      { role: 'tool', content: [lost('c1')] },
      says('went on'),
      asks('c2', 'c3'),
      { role: 'tool', content: [lost('c2'), result('c3')] },
      user('b'),
      says('c'),
    ]
    const first = await load(store)
    expect(first.messages).toEqual(whole)
    expect(first.repairRows).toHaveLength(2)
    await store.messages.append('s1', first.repairRows)
    expect(await load(store)).toMatchObject({ messages: whole, repairRows: [] })
  })

  it('CASE-13: stopped at any row of a turn, the next follow-up gets a valid history', async () => {
    const turn = [
      user('pay'),
      asks('c1', 'c2', 'c3'),
      answers('c1', 'c2', 'c3'),
      asks('c4'),
      answers('c4'),
      says('done'),
    ]
    const rows = toRows(turn, { sessionId: 's1', executionId: 'x2', agentCode: 'ap_desk', ids, at: 1 })
    for (let stop = 0; stop <= rows.length; stop++) {
      const store = await storeWith(
        { id: 'x1', messages: [system, user('a'), says('b')] },
        { id: 'x2', status: 'failed', followUp: 'pay' },
      )
      await store.messages.append('s1', rows.slice(0, stop))
      const first = await load(store)
      expect(historyFaults(first.messages)).toEqual([])
      await store.messages.append('s1', first.repairRows)
      expect(await load(store)).toMatchObject({ messages: first.messages, repairRows: [] })
    }
  })

  it('CASE-13: reading repairs nothing by itself', async () => {
    const store = await storeWith({ id: 'x1', messages: [user('a'), asks('c1')] })
    await load(store)
    expect(await store.messages.count('s1')).toBe(2)
  })
})
