import type { ModelRequest } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { createToolCallIds, wireCallId } from './tool-call-ids.js'
import { wireToolName } from './wire-tool-name.js'

function requestWith(...ids: readonly string[]): ModelRequest {
  const content = ids.map((toolCallId) => ({ type: 'tool_call' as const, toolCallId, toolName: 't', args: '{}' }))
  return { model: 'm', messages: [{ role: 'assistant', content }], tools: [], hostedTools: [], maxOutputTokens: 1 }
}

describe('wireCallId', () => {
  it('CASE-16: an id that fits goes out as it is', () => {
    for (const id of ['call_6Y7U4KSBYYYDJIEL0QdvBtzW', 'toolu_01Js4AMfx5qpTLhwTusnvT68', 'tool_call_3', 'a-b_C9']) {
      expect(wireCallId(id, 40)).toBe(id)
    }
  })

  it('CASE-16: any other id becomes one that every protocol takes, always the same, and never that of another', () => {
    const odd = ['', 'a b', 'ä', 'functions.add:0', 'x'.repeat(41), 'x'.repeat(42), 'call/1', 'call\n1', '🌊']
    const mapped = odd.map((id) => wireCallId(id, 40))
    for (const [index, id] of mapped.entries()) {
      expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/)
      expect(wireCallId(odd[index] as string, 40)).toBe(id)
    }
    expect(new Set(mapped).size).toBe(odd.length)
  })

  it('CASE-16: an id that looks like a mapped one is mapped as well, so that the two never meet', () => {
    const mapped = wireCallId('a b', 40)
    expect(wireCallId(mapped, 40)).not.toBe(mapped)
  })
})

describe('createToolCallIds', () => {
  it('CASE-16: a missing id is made, a repeated one replaced, within a reply and against the history', () => {
    const ids = createToolCallIds(requestWith('one', 'tool_call_2'))
    expect(ids.claim('one')).toBe('tool_call_3')
    expect(ids.claim('new')).toBe('new')
    expect(ids.claim('new')).toBe('tool_call_5')
    expect(ids.claim(undefined)).toBe('tool_call_6')
    expect(ids.claim('')).toBe('tool_call_7')
  })

  it('CASE-16: after a restart the history alone decides, so nothing is given twice', () => {
    const first = createToolCallIds(requestWith())
    const given = [first.claim(undefined), first.claim(undefined)]
    const second = createToolCallIds(requestWith(...given))
    expect(given).not.toContain(second.claim(undefined))
  })

  it('an id that is no text, or longer than any provider makes, counts as missing', () => {
    const ids = createToolCallIds(requestWith())
    expect(ids.claim(17)).toBe('tool_call_1')
    expect(ids.claim('x'.repeat(10_000))).toBe('tool_call_2')
  })
})

describe('wireToolName', () => {
  it('CASE-14: a name that a model invented never makes the history unusable', () => {
    expect(wireToolName('get_weather')).toBe('get_weather')
    expect(wireToolName('drop\u0000 table;')).toBe('drop__table_')
    expect(wireToolName('')).toBe('_')
    expect(wireToolName('x'.repeat(500))).toHaveLength(64)
  })
})
