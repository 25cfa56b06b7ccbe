import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findLinks } from './find-links.js'

const hosts = (text: string) => findLinks(text).map(({ host }) => host)

describe('findLinks', () => {
  it.each([
    ['an address in a sentence', 'See https://evil.example/x?d=1.', ['evil.example']],
    ['a Markdown image', '![x](https://evil.example/p.png?d=secret)', ['evil.example']],
    ['a Markdown link without scheme', '[x](//evil.example)', ['evil.example']],
    ['an HTML attribute', '<img src="https://evil.example/p">', ['evil.example']],
    ['in angle brackets', '<https://evil.example>', ['evil.example']],
    ['in code', '`https://evil.example`.', ['evil.example']],
    ['with backslashes', 'https:\\\\evil.example\\x', ['evil.example']],
    ['with one slash, or none', 'http:/evil.example https:evil.example', ['evil.example', 'evil.example']],
    ['in capitals', 'HTTPS://EVIL.EXAMPLE', ['evil.example']],
    ['a name that programs make a link of', 'www.evil.example', ['www.evil.example']],
    ['another scheme', 'ftp://evil.example wss://evil.example', ['evil.example', 'evil.example']],
    ['a user that looks like a host', 'https://good.example@evil.example/', ['evil.example']],
    ['a user in quotes', "https://good.example'@evil.example/", ['evil.example']],
    ['a full stop at the end of the host', 'https://evil.example./x', ['evil.example']],
    ['an encoded host', 'https://good.example%2Eevil.example', ['good.example.evil.example']],
    ['letters that look like others', 'https://ɡood.example', ['xn--ood-8tb.example']],
    [
      'a link in the query of another',
      'https://good.example/?u=https://evil.example',
      ['good.example', 'evil.example'],
    ],
    ['a number for a host', 'http://2130706433/', ['127.0.0.1']],
    ['a line break between the slashes', 'x /\n/evil.example', ['evil.example']],
    ['signs that a browser takes into the host', "https://good.example'.evil.example", [null]],
    ['a host that is none', 'https://[x]', [null]],
  ])('finds %s', (_what, text, expected) => {
    expect(hosts(text)).toEqual(expected)
  })

  it.each(['a // comment', 'https: is a scheme', 'and/or', 'C:/files', 'a:b', '', 'x //'])(
    'finds none in %j',
    (text) => {
      expect(findLinks(text)).toEqual([])
    },
  )

  it('finds a planted link in any text around it', () => {
    const around = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(around, around, (before, after) => {
        const found = hosts(`${before} https://evil.example/x ${after}`)
        expect(found).toContain('evil.example')
      }),
      { numRuns: 500 },
    )
  })

  it('reads eight megabytes of anything without stalling', () => {
    for (const piece of ['a', '/', 'https:', 'www.', '//', 'a:', "'", '//x '])
      expect(findLinks(piece.repeat(8_000_000 / piece.length)).length).toBeGreaterThanOrEqual(0)
  })
})
