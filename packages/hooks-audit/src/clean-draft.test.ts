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
