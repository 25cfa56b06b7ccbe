import { describe, expect, it } from 'vitest'
import { deferred } from './deferred.js'
import { latch } from './latch.js'

describe('latch', () => {
  it('holds everybody until it is opened, and nobody after', async () => {
    const door = latch()
    const through: number[] = []
    const waits = [1, 2].map((number) => door.wait().then(() => through.push(number)))
    await door.reached(2)
    expect([door.waiting, through.length, door.opened]).toEqual([2, 0, false])
    door.open()
    await Promise.all(waits)
    await door.wait()
    expect([door.waiting, through, door.opened]).toEqual([0, [1, 2], true])
  })

  it('a wait ends with the reason of its signal and leaves no listener', async () => {
    const door = latch()
    const controller = new AbortController()
    const waiting = door.wait(controller.signal)
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(door.wait(controller.signal)).rejects.toThrow('gone')
    expect(door.waiting).toBe(0)
  })

  it('reached resolves when the count has arrived, also where it had before', async () => {
    const door = latch()
    const third = door.reached(3)
    let resolved = false
    void third.then(() => {
      resolved = true
    })
    void door.wait()
    void door.wait()
    await Promise.resolve()
    expect(resolved).toBe(false)
    void door.wait()
    await third
    await door.reached(2)
    door.open()
  })
})

describe('deferred', () => {
  it('is settled from outside; a rejection that nobody awaits is handled', async () => {
    const good = deferred<number>()
    expect(good.settled).toBe(false)
    good.resolve(3)
    expect(await good.promise).toBe(3)
    const bad = deferred()
    bad.reject(new Error('nobody looks'))
    expect(bad.settled).toBe(true)
    await expect(bad.promise).rejects.toThrow('nobody looks')
  })
})
