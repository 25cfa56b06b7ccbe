import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message, ToolResultPart } from '../messages/message.js'
import { INTERRUPTED_CALL, repairHistory } from './repair-history.js'
import { anyMessages, historyFaults, validHistory } from './testing/any-messages.js'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const says = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] })
const asks = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({ type: 'tool_call', toolCallId, toolName: 'write_note', args: '{}' })),
})
const result = (toolCallId: string, text = `result of ${toolCallId}`): ToolResultPart => ({
  type: 'tool_result',
  toolCallId,
  toolName: 'write_note',
  result: text,
  status: 'ok',
})
const answers = (...ids: string[]): Message => ({ role: 'tool', content: ids.map((id) => result(id)) })
const lost = (toolCallId: string): ToolResultPart => ({ ...result(toolCallId, INTERRUPTED_CALL), status: 'unknown' })

describe('repairHistory', () => {
  it('CASE-13: a valid history is returned unchanged, by identity', () => {
    const history = [user('go'), asks('a', 'b'), answers('a', 'b'), says('done'), user('more'), asks('a'), answers('a')]
    const repaired = repairHistory(history)
    expect(repaired.messages).toBe(history)
    expect(repaired.added).toEqual([])
    fc.assert(
      fc.property(validHistory(), (valid) => {
        expect(repairHistory(valid).messages).toBe(valid)
      }),
    )
  })

  it('CASE-13: an interrupted call is answered with a text that says so', () => {
    const history = [user('go'), asks('a')]
    expect(repairHistory(history)).toEqual({
      messages: [user('go'), asks('a'), { role: 'tool', content: [lost('a')] }],
      added: [{ assistantIndex: 1, result: lost('a') }],
    })
    expect(INTERRUPTED_CALL).toMatch(/interrupted/)
  })

  it('CASE-13: of three parallel calls, those without a result are answered and the others keep theirs, in call order', () => {
    const history = [user('go'), asks('a', 'b', 'c'), answers('b')]
    expect(repairHistory(history)).toEqual({
      messages: [user('go'), asks('a', 'b', 'c'), { role: 'tool', content: [lost('a'), result('b'), lost('c')] }],
      added: [
        { assistantIndex: 1, result: lost('a') },
        { assistantIndex: 1, result: lost('c') },
      ],
    })
  })

  it('CASE-13: results without a call are dropped, also at the very beginning', () => {
    expect(repairHistory([answers('x'), user('go'), asks('a'), answers('a', 'y'), answers('z')]).messages).toEqual([
      user('go'),
      asks('a'),
      answers('a'),
    ])
  })

  it('CASE-13: a second result of one call is dropped', () => {
    const twice: Message = { role: 'tool', content: [result('a', 'first'), result('a', 'second')] }
    expect(repairHistory([asks('a'), twice]).messages).toEqual([
      asks('a'),
      { role: 'tool', content: [result('a', 'first')] },
    ])
  })

  it('CASE-13: results that stand behind other messages, or in another order, are brought to their place', () => {
    const history = [asks('a', 'b'), user('hurry'), answers('b'), says('hm'), answers('a')]
    expect(repairHistory(history)).toEqual({
      messages: [asks('a', 'b'), answers('a', 'b'), user('hurry'), says('hm')],
      added: [],
    })
  })

  it('CASE-16: where a later round repeats an id, each result goes to its own round', () => {
    const history = [
      asks('a'),
      user('again'),
      asks('a'),
      { role: 'tool' as const, content: [result('a', 'second round')] },
    ]
    expect(repairHistory(history).messages).toEqual([
      asks('a'),
      { role: 'tool', content: [lost('a')] },
      user('again'),
      asks('a'),
      { role: 'tool', content: [result('a', 'second round')] },
    ])
  })

  it('CASE-16: two calls of one round with the same id keep two results', () => {
    const both: Message = { role: 'tool', content: [result('a', 'one'), result('a', 'two')] }
    const history = [asks('a', 'a'), both]
    expect(repairHistory(history).messages).toBe(history)
    expect(repairHistory([asks('a', 'a'), user('x'), both]).messages).toEqual([asks('a', 'a'), both, user('x')])
  })

  it('CASE-13: whatever was stored, each call has exactly one result in place, nothing else is lost, and once is enough', () => {
    fc.assert(
      fc.property(anyMessages(), (messages) => {
        const repaired = repairHistory(messages)
        expect(historyFaults(repaired.messages)).toEqual([])
        const others = (list: readonly Message[]) => list.filter((message) => message.role !== 'tool')
        expect(others(repaired.messages)).toEqual(others(messages))
        const results = (list: readonly Message[]) =>
          list.flatMap((message) => (message.role === 'tool' ? message.content : []))
        const made = repaired.added.map((entry) => entry.result)
        const given = results(messages)
        for (const part of results(repaired.messages)) expect(made.includes(part) || given.includes(part)).toBe(true)
        expect(repairHistory(repaired.messages)).toEqual({ messages: repaired.messages, added: [] })
      }),
      { numRuns: 1000 },
    )
  })

  it('CASE-13: a valid history cut at any place is repaired', () => {
    fc.assert(
      fc.property(validHistory(), fc.nat(), fc.nat(), (valid, from, length) => {
        const start = from % (valid.length + 1)
        const cut = valid.slice(start, start + (length % (valid.length + 1)))
        expect(historyFaults(repairHistory(cut).messages)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})
