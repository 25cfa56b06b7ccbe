import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldPath, isWithin, MEMORY_ROOT, parseMemoryPath } from './memory-path.js'

const accepted = (path: unknown) => parseMemoryPath(path).ok

describe('paths of a memory', () => {
  it.each([
    ['/memories', '/memories'],
    ['/memories/', '/memories'],
    ['/memories/notes.md', '/memories/notes.md'],
    ['/memories/a b/Ünïcode-3_(x)+y,z@w.tar.gz', '/memories/a b/Ünïcode-3_(x)+y,z@w.tar.gz'],
    ['/memories/.hidden', '/memories/.hidden'],
    ['/memories/日本語/メモ', '/memories/日本語/メモ'],
    ['/memories/__proto__/constructor', '/memories/__proto__/constructor'],
  ])('M-8: %s is one', (given, path) => {
    expect(parseMemoryPath(given)).toEqual({ ok: true, path })
  })

  it.each([
    ...[
      '',
      '/',
      'memories',
      'notes.md',
      './memories/a',
      '/etc/passwd',
      '/memoriesX/a',
      '/memories2',
      '/Memories/a',
      '//memories/a',
    ],
    ...[
      '/memories/..',
      '/memories/../etc',
      '/memories/a/../../b',
      '/memories/.',
      '/memories/./a',
      '/memories/...',
      '/memories//a',
    ],
    ...[
      '/memories/a//',
      '/memories\\..\\a',
      '\\memories\\a',
      '/memories/a\\b',
      'C:\\memories',
      'C:/memories/a',
      '/memories/C:a',
    ],
    ...['/memories/%2e%2e/a', '/memories/%2E%2E%2Fa', '/memories/%252e', '%2fmemories%2fa', '/memories/100%'],
    ...['/memories/a\0', '/memories/a\n', '/memories/a\tb', '/memories/\u007f', '/memories/\u0085'],
    ...[
      '/memories/\uff0e\uff0e/a',
      '/memories/\u2024\u2024/a',
      '/memories/\u2025',
      '/memories/a\uff0fb',
      '/memories/a\u2215b',
    ],
    ...[
      '/memories/a\u2044b',
      '/memories/a\uff3cb',
      '/memories/\u200b..',
      '/memories/.\u200d.',
      '/memories/\u202ea',
      '/memories/\ufeffa',
    ],
    ...['/memories/e\u0301', '/memories/\ufb01', '/memories/\ud800', '/memories/\ue000', '/memories/\u2028'],
    ...[
      '/memories/a.',
      '/memories/a ',
      '/memories/ a',
      '/memories/a./b',
      '/memories/..a/../b',
      '/memories/a*',
      '/memories/a?b',
    ],
    ...[
      '/memories/a:b',
      '/memories/~',
      '/memories/$HOME',
      '/memories/`x`',
      '/memories/<x>',
      `/memories/${'x'.repeat(121)}`,
    ],
    `/memories/${'ab/'.repeat(200)}x`,
  ])('M-8, CASE-21: %j is refused', (path) => {
    expect(accepted(path)).toBe(false)
  })

  it('M-8: what is no text is refused', () => {
    for (const value of [undefined, null, 1, {}, ['/memories/a'], new String('/memories/a')])
      expect(accepted(value)).toBe(false)
  })

  const hostile = fc.array(
    fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '/',
        '\\',
        '%2e',
        '%2f',
        '%5c',
        '\0',
        '~',
        '\uff0e',
        '\uff0f',
        '\u2024',
        '\u200b',
        'a',
        'memories',
        ' ',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 12 },
  )

  it('M-8: whatever is accepted stays under /memories, however it is decoded, normalised or resolved', () => {
    let tried = 0
    fc.assert(
      fc.property(hostile, fc.constantFrom('/memories/', '/memories', ''), (parts, start) => {
        const parsed = parseMemoryPath(start + parts.join(''))
        if (!parsed.ok) return
        tried++
        const { path } = parsed
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
          const read = path.normalize(form)
          expect(new URL(`file://${encodeURI(read)}`).pathname).toBe(encodeURI(read))
          expect(read.split('/').slice(0, 2)).toEqual(['', 'memories'])
          expect(read.split(/[\\/]/).some((part) => /^\.*$/.test(part.trim()) && part !== '')).toBe(false)
        }
        expect(decodeURIComponent(path)).toBe(path)
        expect(isWithin(path, MEMORY_ROOT)).toBe(true)
        // one file has one spelling
        expect(parseMemoryPath(path)).toEqual({ ok: true, path })
      }),
      { numRuns: 3_000 },
    )
    expect(tried).toBeGreaterThan(50)
  })

  it('paths that differ in case alone fold to one', () => {
    expect(foldPath('/memories/STRASSE')).toBe(foldPath('/memories/straße'))
    expect(foldPath('/memories/Ä')).toBe(foldPath('/memories/ä'))
    expect(foldPath('/memories/a')).not.toBe(foldPath('/memories/b'))
    expect(isWithin('/memories/ab', '/memories/a')).toBe(false)
  })
})
