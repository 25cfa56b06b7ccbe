import type { Message } from '@sluice/core'
import { decode, encode } from '@toon-format/toon'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { managedMessages } from './managed-messages.js'
import { toolNameOf } from './tool-name.js'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const said = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] })
const round = (id: string): Message[] => [
  { role: 'assistant', content: [{ type: 'tool_call', toolCallId: id, toolName: 'look', args: '{"a":1}' }] },
  { role: 'tool', content: [{ type: 'tool_result', toolCallId: id, toolName: 'look', result: 'found', status: 'ok' }] },
]

describe('TOON', () => {
  it('F-9, CASE-30: whatever an answer holds stays inside its field', () => {
    const answer = fc.record({ agent: fc.stringMatching(/^[a-z_.]{1,12}$/), response: fc.string({ unit: 'grapheme' }) })
    const hostile = fc.constantFrom(
      'a,b',
      '"',
      '\n  billing,paid',
      '[2]{agent,response}:',
      '\\',
      '',
      ' x ',
      'null',
      '7',
    )
    const list = fc.array(fc.oneof(answer, fc.record({ agent: fc.constant('a'), response: hostile })), { minLength: 1 })
    fc.assert(
      fc.property(list, (answers) => {
        expect(decode(encode(answers))).toEqual(answers)
      }),
    )
  })
})

describe('managedMessages', () => {
  const managed = managedMessages([])
  const whole = [
    { role: 'system', content: 'You lead.' } as const,
    user('1?'),
    ...round('a'),
    said('One.'),
    user('2?'),
    ...round('b'),
    said('Two.'),
  ]

  it('S-40, S-41, S-W6: a cut leaves no call without its result, and begins with a question', () => {
    for (let keep = 1; keep <= whole.length; keep++) {
      const kept = managed.replaced(whole, managed.cutAt(whole, keep), 'Short.').filter(({ role }) => role !== 'system')
      expect(kept[0]?.role).toBe('user')
      for (const [index, message] of kept.entries())
        if (message.role === 'tool') expect(kept[index - 1]).toMatchObject({ content: [{ type: 'tool_call' }] })
    }
    expect([managed.cutAt(whole, 4), managed.cutAt(whole, whole.length)]).toEqual([5, 0])
  })

  it('S-40: the window counts the message to come, and keeps the system prompt', () => {
    expect(managed.window(whole, 3).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(managed.window(whole, 100)).toEqual(whole)
  })

  it('tells a summariser who said what, calls and results included, and no system prompt', () => {
    expect(managed.told(whole.slice(0, 5))).toEqual([
      { role: 'user', text: '1?' },
      { role: 'tool_call', tool: 'look', text: '{"a":1}' },
      { role: 'tool_result', tool: 'look', text: 'found' },
      { role: 'assistant', text: 'One.' },
    ])
  })
})

describe('toolNameOf', () => {
  it('O-5, O-14: every code gives a name that every provider takes, always the same, and no two the same', () => {
    const code = fc.stringMatching(/^[A-Za-z0-9_.-]{1,128}$/)
    const prefix = fc.constantFrom('', 'transfer_to_')
    fc.assert(
      fc.property(fc.uniqueArray(code, { minLength: 1, maxLength: 50 }), prefix, (codes, before) => {
        const names = codes.map((one) => toolNameOf(one, before))
        for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
        expect(new Set(names).size).toBe(codes.length)
        expect(codes.map((one) => toolNameOf(one, before))).toEqual(names)
      }),
    )
    expect([toolNameOf('flights'), toolNameOf('flights', 'transfer_to_')]).toEqual(['flights', 'transfer_to_flights'])
  })
})
