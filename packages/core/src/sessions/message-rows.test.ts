import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIds } from '../internal/ids.js'
import type { Message } from '../messages/message.js'
import { fromRows, loggedMessages } from './logged-messages.js'
import type { RowTarget } from './message-rows.js'
import { isWithheld, toRows } from './message-rows.js'
import { anyMessages } from './testing/any-messages.js'

function target(change: Partial<RowTarget> = {}): RowTarget {
  return { sessionId: 's1', executionId: 'x1', agentCode: 'ap_desk', ids: createIds(() => 0), at: 1_700_000, ...change }
}

const turn: readonly Message[] = [
  { role: 'system', content: 'You are the desk.' },
  { role: 'user', content: [{ type: 'text', text: 'Pay 4711' }] },
  {
    role: 'assistant',
    provider: 'openai',
    model: 'gpt',
    labels: [{ kind: 'tool', source: 'web' }],
    content: [
      { type: 'reasoning', text: 'Look it up.', providerOptions: { openai: { id: 'r1', encrypted: 'xyz' } } },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_call', toolCallId: 'c1', toolName: 'get_invoice', args: '{"invoice": "4711"}' },
      { type: 'tool_call', toolCallId: 'c2', toolName: 'approve', args: '{' },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool_result', toolCallId: 'c1', toolName: 'get_invoice', result: '{"total": 12}', status: 'ok' },
      {
        type: 'tool_result',
        toolCallId: 'c2',
        toolName: 'approve',
        result: 'The tool failed (ERR-1).',
        status: 'error',
        errorReference: 'ERR-1',
        labels: [{ kind: 'mcp', source: 'm' }],
      },
    ],
  },
  { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
]

describe('toRows', () => {
  it('S-37, S-38: one row per content item, each with its role and columns', () => {
    const rows = toRows(turn, target())
    expect(rows.map((row) => [row.role, row.content ?? row.toolInput ?? row.toolOutput, row.toolName])).toEqual([
      ['system', 'You are the desk.', null],
      ['user', 'Pay 4711', null],
      ['reasoning', 'Look it up.', null],
      ['assistant', 'Looking.', null],
      ['tool_call', '{"invoice": "4711"}', 'get_invoice'],
      ['tool_call', '{', 'approve'],
      ['tool_result', '{"total": 12}', 'get_invoice'],
      ['tool_result', 'The tool failed (ERR-1).', 'approve'],
      ['assistant', 'Done.', null],
    ])
    expect(rows[7]).toMatchObject({ toolCallId: 'c2', toolStatus: 'error', errorReference: 'ERR-1' })
    expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length)
    expect(rows.every((row) => row.sessionId === 's1' && row.executionId === 'x1' && row.createdAt === 1_700_000)).toBe(
      true,
    )
  })

  it('S-43: what the caller gave names no agent, what the turn produced names its own', () => {
    const rows = toRows(turn, target())
    expect(rows.map((row) => row.agentCode)).toEqual([null, null, ...Array(7).fill('ap_desk')])
  })

  it('S-43: in a wrapper pattern each row names the agent that produced it', () => {
    const rows = toRows(
      turn,
      target({ producedBy: (index) => (index < 2 ? undefined : index === 4 ? 'second' : 'first') }),
    )
    expect(rows.map((row) => row.agentCode)).toEqual([null, null, ...Array(6).fill('first'), 'second'])
    expect(rows.every((row) => row.executionId === 'x1')).toBe(true)
  })

  it('S-44: items of one message share its number, a round shares the number of the round', () => {
    const rows = toRows(turn, target())
    expect(rows.map((row) => row.messageIndex)).toEqual([0, 1, 2, 2, 2, 2, 3, 3, 4])
    expect(rows.map((row) => row.round)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1])
  })

  it('S-39: a turn that is written round by round gets the same rows', () => {
    const whole = toRows(turn, target())
    const parts = [
      ...toRows(turn.slice(0, 2), target()),
      ...toRows(turn.slice(2, 4), target({ firstMessageIndex: 2 })),
      ...toRows(turn.slice(4), target({ firstMessageIndex: 4, firstRound: 1 })),
    ]
    const known = ({ id: _, ...row }: (typeof parts)[number]) => row
    expect(parts.map(known)).toEqual(whole.map(known))
  })

  it('S-38: part is null where the columns hold everything', () => {
    expect(toRows(turn, target()).map((row) => row.part !== null)).toEqual([
      false,
      false,
      true,
      false,
      false,
      false,
      false,
      true,
      false,
    ])
  })

  it('a message that a gate took back is marked in every row', () => {
    const rows = toRows(turn, target({ withheld: (index) => index === 2 }))
    expect(rows.map(isWithheld)).toEqual([false, false, true, true, true, true, false, false, false])
    expect(fromRows(rows)).toEqual(turn)
    expect(loggedMessages(rows).map((entry) => entry.withheld)).toEqual([false, false, true, false, false])
  })
})

describe('fromRows', () => {
  it('S-46: gives back the messages, labels, provider options and error references included', () => {
    expect(fromRows(toRows(turn, target()))).toEqual(turn)
  })

  it('S-46: any messages come back as they were', () => {
    fc.assert(
      fc.property(anyMessages(), (messages) => {
        expect(fromRows(toRows(messages, target()))).toEqual(messages)
      }),
      { numRuns: 500 },
    )
  })

  it('S-46: any messages come back through JSON, as a store keeps them', () => {
    fc.assert(
      fc.property(anyMessages(), (messages) => {
        expect(fromRows(JSON.parse(JSON.stringify(toRows(messages, target()))))).toEqual(messages)
      }),
      { numRuns: 200 },
    )
  })

  it('S-37: turns stand in the order in which they began', () => {
    const one = toRows(turn.slice(0, 2), target())
    const two = toRows(turn.slice(1, 3), target({ executionId: 'x0' }))
    expect(fromRows([...one, ...two])).toEqual([...turn.slice(0, 2), ...turn.slice(1, 3)])
  })

  it('CASE-13: rows appended later to an earlier turn find their place in it', () => {
    const interrupted = toRows(turn.slice(0, 3), target())
    const other = toRows(turn.slice(1, 2), target({ executionId: 'x2' }))
    const repaired = toRows([turn[3] as Message], target({ firstMessageIndex: 2 }))
    expect(fromRows([...interrupted, ...other, ...repaired])).toEqual([...turn.slice(0, 4), turn[1]])
  })

  it('an empty log has no messages', () => {
    expect(fromRows([])).toEqual([])
  })

  it('CASE-22: a stored part with a key that reaches a prototype changes no prototype', () => {
    const [row] = toRows([{ role: 'user', content: [{ type: 'text', text: 'x' }] }], target())
    const part = JSON.parse('{"__proto__": {"polluted": true}}')
    const [message] = fromRows([{ ...(row as NonNullable<typeof row>), part }])
    expect((message?.content[0] as unknown as Record<string, unknown>).polluted).toBeUndefined()
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})
