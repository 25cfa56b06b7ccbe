import type { Message } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { earlierAnswers, memberHistory } from './member-history.js'

type Said = readonly [by: string | null, role: 'system' | 'user' | 'assistant', text: string, tool?: string]

function spoken(said: readonly Said[]) {
  const messages = said.map(([, role, text, tool]): Message => {
    if (role === 'system') return { role, content: text }
    const call = { type: 'tool_call', toolCallId: 'c', toolName: tool ?? '', args: '{}' } as const
    const part = { type: 'text', text } as const
    return role === 'user' ? { role, content: [part] } : { role, content: tool === undefined ? [part] : [part, call] }
  })
  return { messages, by: said.map(([by]) => by) }
}
const texts = (messages: readonly Message[]) =>
  messages.map(({ content }) => (typeof content === 'string' ? content : (content[0] as { text: string }).text))

const TURNS: readonly Said[] = [
  [null, 'system', 'You are a.'],
  [null, 'user', 'Hello.'],
  ['a', 'assistant', 'Over to b.', 'transfer_to_b'],
  ['b', 'system', 'You are b.'],
  ['b', 'user', 'Hello, b.'],
  ['b', 'assistant', 'I am b.', 'look'],
  ['b', 'user', 'Say it as JSON.'],
  ['b', 'assistant', '{}'],
  [null, 'user', 'Next?'],
]

describe('memberHistory (F-17)', () => {
  it.each<[string, readonly Said[], string, string[]]>([
    ['the first agent has what the caller gave', TURNS.slice(0, 3), 'a', ['You are a.', 'Hello.', 'Over to b.']],
    [
      'another has its own prompt, and what was asked of it in between',
      TURNS,
      'b',
      ['You are b.', 'Hello, b.', 'I am b.', 'Say it as JSON.', '{}', 'Next?'],
    ],
    [
      'what the caller said belongs to who spoke next',
      [
        ...TURNS,
        ['b', 'assistant', 'Over to c.'],
        ['c', 'user', 'c?'],
        ['c', 'assistant', 'I am c.'],
        [null, 'user', 'And?'],
      ],
      'c',
      ['c?', 'I am c.', 'And?'],
    ],
    [
      'control that came back began anew',
      [
        ...TURNS,
        ['b', 'assistant', 'Over to a.'],
        ['a', 'system', 'You are a.'],
        ['a', 'user', 'a?'],
        ['a', 'assistant', 'Me.'],
      ],
      'a',
      ['You are a.', 'a?', 'Me.'],
    ],
    ['who never spoke has nothing of its own', TURNS.slice(0, 3), 'z', []],
  ])('%s', (_name, said, member, own) => {
    expect(texts(memberHistory(spoken(said), member))).toEqual(own)
  })
})

describe('earlierAnswers (F-9)', () => {
  it('are final answers and what was said with a transfer, not the rounds of a hop', () => {
    const answers = earlierAnswers(spoken([...TURNS, ['b', 'assistant', '']]), (name) =>
      name.startsWith('transfer_to_'),
    )
    expect(answers).toEqual([
      { agent: 'a', response: 'Over to b.' },
      { agent: 'b', response: '{}' },
    ])
  })
})
