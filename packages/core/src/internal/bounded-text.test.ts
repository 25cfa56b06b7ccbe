import { describe, expect, it } from 'vitest'
import { boundText } from './bounded-text.js'

describe('boundText', () => {
  it('returns a text within the bound as it is', () => {
    expect(boundText('abc', 3)).toEqual({ text: 'abc', cut: false })
    expect(boundText('', 0)).toEqual({ text: '', cut: false })
  })

  it('cuts at the bound and says so', () => {
    expect(boundText('abcd', 3)).toEqual({ text: 'abc', cut: true })
    expect(boundText('abcd', 0)).toEqual({ text: '', cut: true })
  })

  it('never splits a surrogate pair', () => {
    expect(boundText('a😀b', 2)).toEqual({ text: 'a', cut: true })
    expect(boundText('a😀b', 3)).toEqual({ text: 'a😀', cut: true })
    expect(boundText('😀', 1, 'units')).toEqual({ text: '', cut: true })
    expect(boundText('a😀b', 4, 'bytes')).toEqual({ text: 'a', cut: true })
    expect(boundText('a😀b', 5, 'bytes')).toEqual({ text: 'a😀', cut: true })
  })

  it('counts UTF-8 bytes exactly', () => {
    for (const text of ['ascii', 'öäü', '€€€', '😀😀', 'aö€😀', '\ud800x']) {
      const size = Buffer.byteLength(text)
      expect(boundText(text, size, 'bytes')).toEqual({ text, cut: false })
      const cut = boundText(text, size - 1, 'bytes')
      expect(cut.cut).toBe(true)
      expect(Buffer.byteLength(cut.text)).toBeLessThan(size)
      expect(text.startsWith(cut.text)).toBe(true)
    }
  })
})
