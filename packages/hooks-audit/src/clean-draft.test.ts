import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanDraft } from './clean-draft.js'
import type { Redaction } from './clean-draft.js'
import type { EntryPath } from './entry-path.js'
import { parseEntryPath } from './entry-path.js'
import { someDraft } from './testing/some-entries.js'

const NOTHING: Redaction = { paths: [], patterns: [], values: () => [] }
const paths = (...texts: string[]) => texts.map((text) => parseEntryPath(text) as EntryPath)
const clean = (data: object, redaction: Partial<Redaction>) =>
  cleanDraft(someDraft({ data: data as never }), { ...NOTHING, ...redaction }, [], () => null).data

describe('redaction, before anything is written', () => {
  it('takes out what lies on a path, with * for any one name', () => {
    const data = {
      args: {
        password: 'p',
        lines: [
          { iban: 'DE1', sum: 1 },
          { iban: 'DE2', sum: 2 },
        ],
      },
      empty: null,
    }
    expect(clean(data, { paths: paths('data.args.password', 'data.args.lines.*.iban', 'data.empty') })).toEqual({
      args: {
        password: '[redacted]',
        lines: [
          { iban: '[redacted]', sum: 1 },
          { iban: '[redacted]', sum: 2 },
        ],
      },
      empty: null,
    })
  })

  it('takes patterns out of every text and every key, each time that they fit', () => {
    expect(clean({ a: 'sk-123 and sk-456', 'sk-789': [{ b: 'x sk-1' }] }, { patterns: [/sk-\d+/] })).toEqual({
      a: '[redacted] and [redacted]',
      '[redacted]': [{ b: 'x [redacted]' }],
    })
    // a sticky or global pattern of the owner keeps no place between texts, and a replacement is no template
    const pattern = /\$&|a/g
    expect(clean({ x: 'aa', y: 'a$&' }, { patterns: [pattern] })).toEqual({
      x: '[redacted][redacted]',
      y: '[redacted][redacted]',
    })
    expect(pattern.lastIndex).toBe(0)
  })

  it('takes known secret values out, longer ones first, also where a pattern would read them otherwise', () => {
    const values = () => ['hunter2.*', 'hunter2.*-long', 'abc', 'x'.repeat(5)]
    expect(clean({ a: 'my hunter2.*-long, hunter2.*; abc' }, { values })).toEqual({
      a: 'my [redacted], [redacted]; abc',
    })
  })

  it('a secret is found in every usual spelling: escaped once and twice, percent-encoded, base64, hexadecimal', () => {
    const secret = 'p"\\ä +/?x'
    const inner = JSON.stringify({ password: secret })
    const written = clean(
      {
        body: inner,
        nested: JSON.stringify({ body: inner }),
        url: `https://x/?q=${encodeURIComponent(secret)}&a=1`,
        basic: `Basic ${Buffer.from(secret).toString('base64')}`,
        token: `t=${Buffer.from(secret).toString('base64url')}`,
        dump: Buffer.from(secret).toString('hex'),
      },
      { values: () => [secret] },
    )
    expect(written).toEqual({
      body: '{"password":"[redacted]"}',
      nested: '{"body":"{\\"password\\":\\"[redacted]\\"}"}',
      url: 'https://x/?q=[redacted]&a=1',
      basic: expect.stringMatching(/^Basic \[redacted\]=*$/),
      token: 't=[redacted]',
      dump: '[redacted]',
    })
  })

  it('two secrets that overlap leave no part of either', () => {
    const values = () => ['abcd', 'cdef', 'xxxx']
    expect(clean({ a: '-abcdef-', b: 'xxxxxx', c: 'abcdabcd' }, { values })).toEqual({
      a: '-[redacted]-',
      b: '[redacted]',
      c: '[redacted][redacted]',
    })
  })

  it('a long text is cut behind the redaction: no part of a secret is left at the cut, whatever entry it stands in', () => {
    const secret = 'S3CRET-0123456789'
    for (let shift = 0; shift <= secret.length; shift++) {
      const reason = `${'x'.repeat(2_000 - shift)}${secret} and more`
      const written = clean(
        { reason, error: { name: reason }, answers: [{ code: reason }] },
        { values: () => [secret] },
      )
      expect(JSON.stringify(written)).not.toContain(secret.slice(0, 4))
      expect(written.reason).toMatch(/ \[cut: \d+ more\]$|\[redacted\]/)
    }
    // a cut through a pair of surrogates leaves none of them alone
    const smile = `${'x'.repeat(1_999)}\u{1f600}`
    expect(clean({ reason: smile }, {}).reason).toBe(`${'x'.repeat(1_999)}\ufffd [cut: 1 more]`)
  })

  it('a sticky pattern fits everywhere, too', () => {
    expect(clean({ a: 'x sk-1 sk-2' }, { patterns: [/sk-\d/y] })).toEqual({ a: 'x [redacted] [redacted]' })
  })

  it('a secret that stands there as a number goes, in what others wrote; the numbers of the audit stay', () => {
    const data = {
      args: { pin: 482_913, n: 7 },
      details: { card: [4_111_111_111_111_111] },
      usage: { inputTokens: 482_913 },
    }
    expect(clean(data, { values: () => ['482913'], patterns: [/\d{16}/] })).toEqual({
      args: { pin: '[redacted]', n: 7 },
      details: { card: ['[redacted]'] },
      usage: { inputTokens: 482_913 },
    })
  })

  it('what lies beside the chain is redacted before it is kept', () => {
    const kept: unknown[] = []
    const data = { args: { person: { name: 'Ada', password: 'p', note: 'key S3CRET' } } }
    const draft = someDraft({ data })
    cleanDraft(
      draft,
      { paths: paths('data.args.person.password'), patterns: [], values: () => ['S3CRET'] },
      paths('data.args.person', 'data.args.person.name'),
      (value) => {
        kept.push(value)
        return 'sealed'
      },
    )
    expect(kept).toEqual([{ name: 'Ada', password: '[redacted]', note: 'key [redacted]' }])
  })

  it('two keys that become the same stay two', () => {
    expect(clean({ 'k-1': 1, 'k-2': 2 }, { patterns: [/k-\d/] })).toEqual({ '[redacted]': 1, '[redacted]~': 2 })
  })

  it('no text of any shape brings a secret into the log', () => {
    const secret = 'S3CRET-value'
    const text = fc
      .tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
      .map(([left, right]) => `${left}${secret}${right}`)
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        const written = JSON.stringify(clean({ value }, { values: () => [secret] }))
        expect(written).not.toContain(secret)
      }),
    )
  })

  it('what pairs entries stays; text is made well-formed; names like __proto__ stay data', () => {
    const draft = someDraft({
      effectId: 'r1/m1',
      data: JSON.parse('{"__proto__":{"x":"\\ud800"},"toJSON":1}') as never,
    })
    const cleaned = cleanDraft(draft, { ...NOTHING, patterns: [/r1|m1/, /tool/] }, [], () => null)
    expect([cleaned.run, cleaned.effectId, cleaned.event]).toEqual(['r1', 'r1/m1', 'tool.outcome'])
    expect(JSON.stringify(cleaned.data)).toBe('{"__proto__":{"x":"\ufffd"},"~toJSON":1}')
    expect(Object.getPrototypeOf(cleaned.data)).toBe(Object.prototype)
  })

  it('a path leads to nothing that holds the chain together', () => {
    for (const text of [
      'data',
      'hash',
      'prev',
      'execution',
      'seq',
      'effectId',
      'run',
      'macs.0',
      '*',
      '',
      'data.',
      '.x',
    ])
      expect([text, parseEntryPath(text)]).toEqual([text, undefined])
    expect(parseEntryPath('data.args.*.x')).toEqual(['data', 'args', '*', 'x'])
  })
})
