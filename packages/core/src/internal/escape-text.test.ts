import { describe, expect, it } from 'vitest'
import { escapeControl } from './escape-text.js'

const NASTY = 'a\r\nb\u0085c\u2028d\u2029e\tf\u001b[2Jg\0h\u202ei\u2066j\u200ek\u061cl\\m\u007fn\ud800o'

describe('escapeControl', () => {
  it('CASE-29: shows control characters, separators and bidirectional marks escaped, on one line', () => {
    expect(escapeControl(NASTY)).toBe(
      'a\\r\\nb\\u0085c\\u2028d\\u2029e\\tf\\u001b[2Jg\\u0000h\\u202ei\\u2066j\\u200ek\\u061cl\\\\m\\u007fn\\ud800o',
    )
  })

  it('CASE-29: an escaped text can be read back as it was', () => {
    const escaped = escapeControl(NASTY)
    expect(JSON.parse(`"${escaped}"`)).toBe(NASTY)
    expect(JSON.parse(`"${escapeControl('C:\\new \\u0041')}"`)).toBe('C:\\new \\u0041')
  })

  it('leaves ordinary text of every script as it is', () => {
    const text = 'Rechnung 12 über 3,50 € — 請求書 😀 شكرا'
    expect(escapeControl(text)).toBe(text)
  })

  it('CASE-29: bounds the length, marks the cut and splits neither an escape nor a pair', () => {
    expect(escapeControl('abcdef', 5)).toBe('abc\\…')
    expect(escapeControl('abcde', 5)).toBe('abcde')
    expect(escapeControl('\u001b\u001b', 8)).toBe('\\u001b\\…')
    expect(escapeControl('\u001b\u001b', 7)).toBe('\\…')
    expect(escapeControl('a😀😀', 4)).toBe('a\\…')
    const long = escapeControl('\n'.repeat(1_000_000), 1024)
    expect(long.length).toBe(1024)
    expect(long.endsWith('\\n\\…')).toBe(true)
    // the mark cannot be forged
    expect(escapeControl('ab\\…', 10)).toBe('ab\\\\…')
  })
})
