import { describe, expect, it } from 'vitest'
import { untrusted } from './untrusted.js'

describe('untrusted', () => {
  it('labels a text or a part with where it came from', () => {
    expect(untrusted('Dear desk', 'mail')).toEqual({
      type: 'text',
      text: 'Dear desk',
      labels: [{ kind: 'input', source: 'mail' }],
    })
    const file = { type: 'file', mediaType: 'application/pdf', data: 'eA==' } as const
    expect(untrusted(file)).toEqual({ ...file, labels: [{ kind: 'input', source: 'input' }] })
  })

  it('keeps the labels that are there, adds none twice, and changes no part in place', () => {
    const part = { type: 'text', text: 'x', labels: [{ kind: 'memory', source: 'm' }] } as const
    const marked = untrusted(untrusted(part, 'a'), 'a')
    expect(marked.labels).toEqual([
      { kind: 'memory', source: 'm' },
      { kind: 'input', source: 'a' },
    ])
    expect(part.labels).toHaveLength(1)
    expect(Object.isFrozen(marked)).toBe(true)
  })
})
