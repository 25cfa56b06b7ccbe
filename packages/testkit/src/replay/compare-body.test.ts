import { describe, expect, it } from 'vitest'
import { compareBody } from './compare-body.js'

const paths = (expected: Parameters<typeof compareBody>[0], actual: unknown) =>
  compareBody(expected, actual).map((difference) => difference.path)

describe('compareBody', () => {
  it('objects may hold more than is asked for, lists may not', () => {
    expect(paths({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toEqual([])
    expect(paths({ a: [1, 2] }, { a: [1, 2, 3] })).toEqual(['body.a.length'])
    expect(paths({ a: [1, 2] }, { a: [1] })).toEqual(['body.a[1]'])
  })

  it('names every place that differs', () => {
    expect(compareBody({ a: 1, b: { c: 'x' }, d: null }, { a: '1', b: {} })).toEqual([
      { path: 'body.a', expected: '1', actual: '"1"' },
      { path: 'body.b.c', expected: '"x"', actual: '(absent)' },
      { path: 'body.d', expected: 'null', actual: '(absent)' },
    ])
  })

  it('$contains finds items in this order among others', () => {
    const items = [{ type: 'a' }, { type: 'b', id: 1 }, { type: 'c' }]
    expect(paths({ $contains: [{ type: 'a' }, { type: 'c' }] }, items)).toEqual([])
    expect(paths({ $contains: [{ type: 'c' }, { type: 'a' }] }, items)).toEqual(['body (item 2 of $contains)'])
    expect(paths({ $contains: [{ type: 'b', id: 2 }] }, items)).toEqual(['body (item 1 of $contains)'])
    expect(paths({ $contains: [{ type: 'a' }, { type: 'a' }] }, items)).toEqual(['body (item 2 of $contains)'])
    expect(paths({ $contains: [] }, 'text')).toEqual(['body'])
  })

  it('$includes finds text', () => {
    expect(paths({ x: { $includes: 'INV-1' } }, { x: 'about INV-1002' })).toEqual([])
    expect(paths({ x: { $includes: 'INV-2' } }, { x: 'about INV-1002' })).toEqual(['body.x'])
    expect(paths({ x: { $includes: '' } }, { x: 7 })).toEqual(['body.x'])
  })

  it('CASE-22: keys of a prototype are not found', () => {
    expect(paths(JSON.parse('{"__proto__":{}}'), {})).toEqual(['body.__proto__'])
    expect(paths({ toString: 1 } as never, {})).toEqual(['body.toString'])
  })

  it('long values are cut in differences', () => {
    const [difference] = compareBody('a', 'b'.repeat(5_000))
    expect(difference?.actual.length).toBeLessThan(260)
  })
})
