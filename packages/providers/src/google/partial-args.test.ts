import { describe, expect, it } from 'vitest'
import type { Wire } from '../shared/wire-json.js'
import { PartialArgs } from './partial-args.js'

function argsOf(...pieces: readonly Wire[]): unknown {
  const args = new PartialArgs()
  for (const piece of pieces) args.add(piece)
  return JSON.parse(JSON.stringify(args.value))
}

describe('arguments that arrive value by value', () => {
  it('stand where their paths say, each with its type', () => {
    expect(
      argsOf(
        { jsonPath: '$.trip.city', stringValue: 'Kyoto' },
        { jsonPath: '$.trip.days', numberValue: 3 },
        { jsonPath: '$.trip.guests[0].name', stringValue: 'Ä' },
        { jsonPath: '$.trip.guests[1].name', stringValue: 'B' },
        { jsonPath: "$['odd.key'][\"it's\"]", boolValue: false },
        { jsonPath: '$.none', nullValue: 'NULL_VALUE' },
      ),
    ).toEqual({
      trip: { city: 'Kyoto', days: 3, guests: [{ name: 'Ä' }, { name: 'B' }] },
      'odd.key': { "it's": false },
      none: null,
    })
  })

  it('join a text that comes in pieces, and no other', () => {
    const piece = (jsonPath: string, stringValue: string, willContinue?: boolean) => ({
      jsonPath,
      stringValue,
      willContinue,
    })
    expect(
      argsOf(
        piece('$.a', 'Bos', true),
        piece('$.a', 'to', true),
        piece('$.a', 'n'),
        piece('$.b', 'x'),
        piece('$.b', 'y'),
      ),
    ).toEqual({ a: 'Boston', b: 'y' })
  })

  it('pass over what is no place: paths that cannot be read, items far away, too many steps', () => {
    expect(
      argsOf(
        { jsonPath: 'a', stringValue: 'x' },
        { jsonPath: '$', stringValue: 'x' },
        { jsonPath: '$[0]', stringValue: 'x' },
        { jsonPath: '$..a', stringValue: 'x' },
        { jsonPath: '$.a[*]', stringValue: 'x' },
        { jsonPath: '$.list[4000000000]', stringValue: 'x' },
        { jsonPath: '$.list[7]', stringValue: 'x' },
        { jsonPath: `$${'.a'.repeat(200)}`, stringValue: 'x' },
        { jsonPath: '$.a' },
        { stringValue: 'x' },
      ),
    ).toEqual({ list: [] })
  })

  it('CASE-22: a path through __proto__ is a key like any other', () => {
    const args = new PartialArgs()
    args.add({ jsonPath: '$.__proto__.polluted', stringValue: 'x' })
    args.add({ jsonPath: '$.constructor.prototype.polluted', stringValue: 'x' })
    expect(JSON.stringify(args.value)).toBe(
      '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"polluted":"x"}}}',
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})
