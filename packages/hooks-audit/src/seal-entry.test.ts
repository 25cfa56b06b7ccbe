import { createHash, createHmac, createSecretKey } from 'node:crypto'
import type { JsonValue } from '@sluice/core'
import fc from 'fast-check'
import { canonicalize } from 'json-canonicalize'
import { describe, expect, it } from 'vitest'
import { cleanDraft } from './clean-draft.js'
import { canonicalText } from './canonical-text.js'
import { hashedText, sealEntry } from './seal-entry.js'
import { someChain, someDraft } from './testing/some-entries.js'

/** RFC 8785 in six lines, written apart from the library. */
function canonical(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonical(item)).join(',')}]`
  const object = value as Readonly<Record<string, JsonValue>>
  const keys = Object.keys(object).sort((left, right) => (left < right ? -1 : 1))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(object[key] as JsonValue)}`).join(',')}}`
}

/** Data as it is written where nothing is redacted. */
const plain = (value: JsonValue) => {
  const args = { value } as never
  return (cleanDraft(someDraft({ data: { args } }), NOTHING, [], () => null).data.args as { value: JsonValue }).value
}
const NOTHING = { paths: [], patterns: [], values: () => [] }

describe('the hashed bytes', () => {
  it('are the canonical JSON of RFC 8785: its own example, to the byte', () => {
    const example = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    }
    expect(canonicalText(example)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
    // 3.2.3: keys sort by their UTF-16 units
    expect(
      canonicalText({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}')
  })

  it('are canonical for any data that is written, a key toJSON and shared parts included', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const data = plain(value as JsonValue)
        expect(canonicalText(data)).toBe(canonical(data))
        // and as another implementation has it
        expect(canonicalText(data)).toBe(canonicalize(data))
      }),
      { numRuns: 2_000 },
    )
    const shared = { b: 1, a: 2 }
    const data = plain({ a: shared, ab: shared, toJSON: { z: 1, y: 2 }, ['__proto__x']: 1 })
    expect(canonicalText(data)).toBe(canonical(data))
    expect(canonicalText(data)).toContain('"~toJSON":{"y":2,"z":1}')
  })

  it('no function of the data is called, and what JSON cannot hold is refused', () => {
    const sly = { actor: 'mallory', toJSON: () => ({ actor: 'petra.k' }) }
    for (const value of [sly, Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('x'), undefined, [() => 1]])
      expect(() => canonicalText(value as never)).toThrow(TypeError)
    expect(canonicalText({ a: undefined, b: [undefined, -0] } as never)).toBe('{"b":[null,0]}')
    const shared = { x: 1 }
    expect(canonicalText({ a: shared, ab: shared })).toBe('{"a":{"x":1},"ab":{"x":1}}')
  })

  it('anyone can hash them: SHA-256 of the entry without hash and macs, HMAC-SHA256 beside it under its key id', () => {
    const bytes = Buffer.alloc(32, 7)
    const key = { id: 'k1', secret: createSecretKey(bytes) }
    const entry = sealEntry(someDraft(), { log: 'audit', seq: 0, storedAt: 1, prev: '0'.repeat(64) }, [key])
    const { hash, macs, ...body } = entry
    const text = canonical(body as unknown as JsonValue)
    expect(hashedText(entry as never)).toBe(text)
    expect(hash).toBe(createHash('sha256').update(text).digest('hex'))
    expect(macs).toEqual([{ key: 'k1', mac: createHmac('sha256', bytes).update(text).digest('hex') }])
  })

  it('each entry holds the hash of the one before it, the first one 64 zeros', () => {
    const chain = someChain(3)
    expect(chain.map(({ prev }) => prev)).toEqual(['0'.repeat(64), chain[0]?.hash, chain[1]?.hash])
  })
})
