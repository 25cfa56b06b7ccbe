import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../messages/message.js'
import { historyWindow, messageBytes } from './history-window.js'
import { historyFaults, validHistory } from './testing/any-messages.js'

const system: Message = { role: 'system', content: 'You are the desk.' }
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const says = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] })
const asks = (id: string): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_call', toolCallId: id, toolName: 't', args: '{}' }],
})
const answers = (id: string, result = 'ok'): Message => ({
  role: 'tool',
  content: [{ type: 'tool_result', toolCallId: id, toolName: 't', result, status: 'ok' }],
})
const chat = [system, user('1'), says('a'), user('2'), says('b'), user('3')]

describe('historyWindow', () => {
  it('S-40, CASE-13: a history below or at the bound is returned unchanged, by identity', () => {
    for (const maxMessages of [5, 6, undefined, null]) expect(historyWindow(chat, { maxMessages })).toBe(chat)
    expect(historyWindow([], { maxMessages: 1 })).toEqual([])
    const exact = chat.reduce((bytes, message) => bytes + messageBytes(message), 0)
    expect(historyWindow(chat, { maxBytes: exact })).toBe(chat)
    expect(historyWindow(chat, { maxBytes: exact - 1 })).not.toBe(chat)
  })

  it('S-40: beyond it, the system message and the newest messages are kept', () => {
    expect(historyWindow(chat, { maxMessages: 3 })).toEqual([system, user('2'), says('b'), user('3')])
    expect(historyWindow(chat, { maxMessages: 1 })).toEqual([system, user('3')])
    expect(historyWindow(chat, { maxMessages: 0 })).toEqual([system, user('3')])
  })

  it('S-40, CASE-13: a tool message is never separated from the message that asked: the window is widened', () => {
    const history = [system, user('1'), asks('a'), answers('a'), asks('b'), answers('b'), user('2')]
    expect(historyWindow(history, { maxMessages: 2 })).toEqual([system, user('1'), asks('b'), answers('b'), user('2')])
  })

  it('CASE-13: a cut history begins with the user message that led to what is kept', () => {
    expect(historyWindow(chat, { maxMessages: 2 })).toEqual([system, user('2'), says('b'), user('3')])
  })

  it('CASE-13: the newest user message stays when rounds fill the window', () => {
    const rounds = ['a', 'b', 'c'].flatMap((id) => [asks(id), answers(id)])
    expect(historyWindow([system, user('old'), says('x'), user('now'), ...rounds], { maxMessages: 2 })).toEqual([
      system,
      user('now'),
      asks('c'),
      answers('c'),
    ])
  })

  it('CASE-13: by size, rounds are dropped whole from the oldest on', () => {
    const big = 'x'.repeat(1000)
    const history = [system, user('1'), asks('a'), answers('a', big), says('fine'), user('2'), says('b'), user('3')]
    expect(historyWindow(history, { maxBytes: 500 })).toEqual([
      system,
      user('1'),
      says('fine'),
      user('2'),
      says('b'),
      user('3'),
    ])
    expect(historyWindow(history, { maxBytes: 0 })).toEqual([system, user('3')])
  })

  it('CASE-13: by size, a newest round that does not fit is dropped and the question stays', () => {
    const history = [system, user('1'), asks('a'), answers('a', 'x'.repeat(1000))]
    expect(historyWindow(history, { maxBytes: 100 })).toEqual([system, user('1')])
  })

  it('S-39: the list given is not touched', () => {
    const given = Object.freeze([...chat])
    historyWindow(given, { maxMessages: 2, maxBytes: 10 })
    expect(given).toEqual(chat)
  })

  it('CASE-13: cut at every index by count and by size, a valid history stays valid', () => {
    let cuts = 0
    fc.assert(
      fc.property(validHistory(), (history) => {
        const total = history.reduce((bytes, message) => bytes + messageBytes(message), 0)
        const bounds = [
          ...Array.from({ length: history.length + 1 }, (_, maxMessages) => ({ maxMessages })),
          ...Array.from({ length: 20 }, (_, at) => ({ maxBytes: Math.floor((total * at) / 19) })),
          { maxMessages: Math.floor(history.length / 2), maxBytes: Math.floor(total / 2) },
        ]
        for (const bound of bounds) {
          const kept = historyWindow(history, bound)
          if (kept !== history) cuts += 1
          expect(historyFaults(kept)).toEqual([])
          expectOrderedPart(kept, history)
          expectEdges(kept, history)
          expectBounds(kept, history, bound)
        }
      }),
      { numRuns: 150 },
    )
    expect(cuts).toBeGreaterThan(500)
  })
})

/** Every message kept is one of the history, in its order. */
function expectOrderedPart(kept: readonly Message[], history: readonly Message[]): void {
  let at = -1
  for (const message of kept) {
    const next = history.indexOf(message, at + 1)
    expect(next).toBeGreaterThan(at)
    at = next
  }
}

function expectEdges(kept: readonly Message[], history: readonly Message[]): void {
  if (history[0]?.role === 'system') expect(kept[0]).toBe(history[0])
  const newest = history.findLast((message) => message.role === 'user')
  if (newest !== undefined) expect(kept).toContain(newest)
  const first = kept.find((message) => message.role !== 'system')
  if (first !== undefined) expect(first.role).toBe('user')
}

/** N, one message more to complete a round, one more for the question; by size nothing but what always stays is over it. */
function expectBounds(
  kept: readonly Message[],
  history: readonly Message[],
  bound: { maxMessages?: number; maxBytes?: number },
): void {
  const own = kept.filter((message) => message.role !== 'system')
  if (bound.maxMessages !== undefined) expect(own.length).toBeLessThanOrEqual(bound.maxMessages + 2)
  if (bound.maxBytes !== undefined) {
    const newest = history.findLast((message) => message.role === 'user')
    const fixed = kept.filter((message) => message.role === 'system' || message === newest)
    const size = (list: readonly Message[]) => list.reduce((bytes, message) => bytes + messageBytes(message), 0)
    expect(size(kept)).toBeLessThanOrEqual(Math.max(bound.maxBytes, size(fixed)))
  }
}

describe('messageBytes', () => {
  it('counts UTF-8 bytes of text, arguments, results, file data and provider options', () => {
    expect(messageBytes({ role: 'system', content: 'ä€😀' })).toBe(2 + 3 + 4)
    expect(
      messageBytes({
        role: 'user',
        content: [
          { type: 'text', text: 'ab' },
          { type: 'file', mediaType: 'image/png', data: 'AAAA' },
        ],
      }),
    ).toBe(6)
    expect(
      messageBytes({
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'abc', providerOptions: { x: {} } },
          { type: 'tool_call', toolCallId: '1', toolName: 'tt', args: '{}' },
        ],
      }),
    ).toBe(3 + '{"x":{}}'.length + 4)
    expect(messageBytes(answers('1', 'äää'))).toBe(6)
  })
})
