import { describe, expect, it } from 'vitest'
import { parseToolArguments } from './parse-arguments.js'
import { seeded } from './testing/seeded.js'

function faultOf(text: string, bounds?: { maxBytes?: number; maxDepth?: number }): string {
  const parsed = parseToolArguments(text, bounds)
  if (parsed.ok) throw new Error(`accepted as ${JSON.stringify(parsed.value)}`)
  return parsed.fault
}

const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

describe('parseToolArguments', () => {
  it('G-27: gives the object that the model sent', () => {
    expect(parseToolArguments(' {"invoice":"R-1","lines":[{"n":1.5}]} \n')).toEqual({
      ok: true,
      value: { invoice: 'R-1', lines: [{ n: 1.5 }] },
      dropped: [],
    })
  })

  it.each([[undefined], [''], [' \n']])('G-27, CASE-14: absent arguments (%j) are an empty object', (text) => {
    expect(parseToolArguments(text)).toEqual({ ok: true, value: {}, dropped: [] })
  })

  it.each([
    ['{', 'ends before'],
    ['{"a":"x', 'ends before'],
    ['{"a":[1,2}', 'ends before'],
    ['[]', 'not a JSON object'],
    ['"x"', 'not a JSON object'],
    ['null', 'not a JSON object'],
    ['7', 'not a JSON object'],
    ['hello', 'not a JSON object'],
    ['\ufeff{}', 'not a JSON object'],
    ['{"a":1}{"b":2}', 'something follows the JSON value (at character 8)'],
    ['{"a":1} thanks', 'something follows the JSON value (at character 9)'],
    ['{"a":"one\ntwo"}', 'raw line break or control character (at character 10)'],
    ['{"a":"\\"\n"}', 'raw line break'],
    ['{a:1}', 'not valid JSON'],
    ["{'a':1}", 'not valid JSON'],
    ['{"a":1,}', 'not valid JSON'],
    ['{"a":NaN}', 'not valid JSON'],
    ['{"a":1,"a":2}', 'the key "a" appears twice'],
    ['{"a":1,"\\u0061":2}', 'the key "a" appears twice'],
    ['{"x":[{"k:":1,"b":":","k:":2}]}', 'the key "k:" appears twice'],
    ['{"a":1e999}', 'a number is too large'],
  ])('CASE-14: %j is refused: %s', (text, fault) => {
    expect(faultOf(text)).toContain(fault)
  })

  it('CASE-14: colons and brackets inside strings are no keys and no levels', () => {
    const value = { 'a:b': ':::', c: '{{{"[:"\\', '\\"': { '}': '\\\\' } }
    expect(parseToolArguments(JSON.stringify(value), { maxDepth: 2 })).toMatchObject({ ok: true, value })
  })

  it('CASE-14: is bounded in depth and size, exactly', () => {
    expect(parseToolArguments(nested(64)).ok).toBe(true)
    expect(faultOf(nested(65))).toContain('nested deeper than 64 levels')
    expect(parseToolArguments('{"a":"é"}', { maxBytes: 10 }).ok).toBe(true)
    expect(faultOf('{"a":"é"}', { maxBytes: 9 })).toContain('larger than the 9 bytes')
    expect(parseToolArguments(`{"a":"${'x'.repeat(1_048_568)}"}`).ok).toBe(true)
    expect(faultOf(`{"a":"${'x'.repeat(1_048_569)}"}`)).toContain('larger than')
  })

  it('CASE-14: a fault never echoes more than 100 characters of what was sent', () => {
    const key = 'k'.repeat(5_000)
    const faults = [faultOf(`{"${key}":1,"${key}":2}`), faultOf(`{"a":1}${key}`), faultOf(key), faultOf(`{${key}`)]
    for (const fault of faults) expect(fault.split('k').length - 1).toBeLessThan(100)
    expect(faultOf('{"\\u001b[2J":1,"\\u001b[2J":2}')).toContain('\\u001b[2J')
  })

  it.each([
    ['2 MB of digits', `{"a":${'9'.repeat(2_000_000)}}`, {}],
    ['2 MB of digits under a larger bound', `{"a":${'9'.repeat(2_000_000)}}`, { maxBytes: 4_000_000 }],
    ['a depth of 10 000', nested(10_000), {}],
    ['a depth of 10 000 under a larger bound', nested(10_000), { maxDepth: 20_000 }],
    ['1 MB of escaped quotes', `{"a":"${'\\"'.repeat(500_000)}`, {}],
    ['1 MB of backslashes', `{"a":"${'\\'.repeat(1_000_000)}"`, {}],
    [
      '100 000 keys, one of them twice',
      `{${Array.from({ length: 99_000 }, (_, n) => `"${n}":1`).join(',')},"7":2}`,
      {},
    ],
    ['1 MB of unsafe keys', `{${'"__proto__":{},'.repeat(60_000)}"a":1}`, {}],
  ])('CASE-14: %s takes no more than 250 ms', (_what, text, bounds) => {
    // the best of three: a busy machine may hold one of them up
    const times = [1, 2, 3].map(() => {
      const start = performance.now()
      parseToolArguments(text, bounds)
      return performance.now() - start
    })
    expect(Math.min(...times)).toBeLessThan(250)
  })

  it('CASE-22, R-11: takes out keys that reach a prototype at every level and `_ctx` at the top, and says so', () => {
    const text =
      '{"_ctx":{"clerk":"me"},"__proto__":{"admin":true},"a":{"__proto__":1,"_ctx":2,"constructor":{"prototype":3}},"list":[{"prototype":4,"ok":5}]}'
    const parsed = parseToolArguments(text)
    expect(parsed).toStrictEqual({
      ok: true,
      value: { a: { _ctx: 2 }, list: [{ ok: 5 }] },
      dropped: ['_ctx', '__proto__', 'list.0.prototype', 'a.__proto__', 'a.constructor'],
    })
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })

  it('R-11: `_ctx` alone is taken out too', () => {
    expect(parseToolArguments('{"_ctx":{"clerk":"me"},"a":1}')).toEqual({
      ok: true,
      value: { a: 1 },
      dropped: ['_ctx'],
    })
  })

  it('CASE-22: an escaped spelling is the same key, and the list of what was taken is bounded', () => {
    expect(parseToolArguments('{"\\u005f_proto__":{"x":1}}')).toEqual({ ok: true, value: {}, dropped: ['__proto__'] })
    const many = `{${Array.from({ length: 50 }, (_, n) => `"${'n'.repeat(300)}${n}":{"__proto__":1}`).join(',')}}`
    const parsed = parseToolArguments(many)
    expect(parsed.ok && parsed.dropped.length).toBe(20)
    expect(parsed.ok && parsed.dropped.every((path) => path.length <= 100)).toBe(true)
  })

  it('CASE-14: of 3 000 valid texts it reads what JSON.parse reads', () => {
    for (let seed = 1; seed <= 3_000; seed++) {
      const value = { root: seeded(seed).json(5) }
      const text = JSON.stringify(value, null, seed % 3)
      expect(parseToolArguments(text), text).toEqual({ ok: true, value: JSON.parse(text), dropped: [] })
    }
  })

  it('CASE-14: of 20 000 damaged texts it throws at none, and accepts none that JSON.parse refuses', () => {
    let accepted = 0
    for (let seed = 1; seed <= 20_000; seed++) {
      const random = seeded(seed)
      const whole = JSON.stringify({ root: random.json(4) })
      const at = random.number(whole.length)
      const text = whole.slice(0, at) + random.text(3) + whole.slice(at + random.number(3))
      const parsed = parseToolArguments(text)
      if (!parsed.ok) {
        expect(parsed.fault.length).toBeLessThan(300)
        continue
      }
      accepted += 1
      if (text.trim() !== '') expect(parsed.value, text).toEqual(JSON.parse(text))
    }
    expect(accepted).toBeGreaterThan(1_000)
  })
})
