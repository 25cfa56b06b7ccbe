import { describe, expect, it } from 'vitest'
import { BoundedCache } from './bounded-cache.js'

describe('BoundedCache', () => {
  it('lets go of what was not used for longest when it is full', () => {
    const cache = new BoundedCache<string>(10)
    cache.set('a', 'A', 4)
    cache.set('b', 'B', 4)
    expect(cache.get('a')).toBe('A')
    cache.set('c', 'C', 4)
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['A', undefined, 'C'])
  })

  it('counts a value once however often it is set, and keeps none that is larger than itself', () => {
    const cache = new BoundedCache<string>(10)
    for (let index = 0; index < 5; index++) cache.set('a', String(index), 6)
    expect(cache.get('a')).toBe('4')
    cache.set('b', 'large', 11)
    expect(cache.get('b')).toBeUndefined()
    expect(cache.get('a')).toBe('4')
    cache.set('a', 'large', 11)
    expect(cache.get('a')).toBeUndefined()
  })
})
