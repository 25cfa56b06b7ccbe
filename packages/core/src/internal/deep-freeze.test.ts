import { describe, expect, it } from 'vitest'
import { deepFreeze } from './deep-freeze.js'

describe('deepFreeze', () => {
  it('freezes objects and lists all the way down and returns the value', () => {
    const value = { a: [{ b: 1 }], c: Object.assign(Object.create(null) as object, { d: {} }) }
    expect(deepFreeze(value)).toBe(value)
    expect(() => {
      ;(value.a[0] as { b: number }).b = 2
    }).toThrow(TypeError)
    expect(Object.isFrozen((value.c as { d: object }).d)).toBe(true)
  })

  it('goes on below what was frozen already, and ends on cycles', () => {
    const inner: { self?: unknown } = {}
    inner.self = inner
    const list: unknown[] = [inner]
    const value = Object.freeze({ list, inner })
    list.push(value)
    deepFreeze(value)
    expect(Object.isFrozen(list) && Object.isFrozen(inner)).toBe(true)
  })

  it('leaves signals, typed arrays, functions, dates and errors alive', () => {
    const controller = new AbortController()
    const bytes = new Uint8Array(2)
    const call = Object.assign(() => 1, { calls: 0 })
    const error = new Error('x')
    deepFreeze({ signal: controller.signal, bytes, call, error, map: new Map() })
    bytes[0] = 7
    call.calls = 1
    error.message = 'y'
    controller.abort()
    expect(controller.signal.aborted && bytes[0] === 7 && call.calls === 1 && error.message === 'y').toBe(true)
  })

  it('calls no accessor', () => {
    let reads = 0
    const value = {
      get signal() {
        reads += 1
        return {}
      },
    }
    deepFreeze(value)
    expect(reads).toBe(0)
  })

  it('freezes a chain of 100 000 objects without overflowing the stack', () => {
    let chain: { next?: object } = {}
    const last = chain
    for (let index = 0; index < 100_000; index++) chain = { next: chain }
    deepFreeze(chain)
    expect(Object.isFrozen(last)).toBe(true)
  })

  it('returns primitives as they are', () => {
    expect([deepFreeze(1), deepFreeze(null), deepFreeze('x'), deepFreeze(undefined)]).toEqual([1, null, 'x', undefined])
  })
})
