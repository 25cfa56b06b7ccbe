import { describe, expect, it } from 'vitest'
import { SluiceError } from '@sluice/core'
import { fakeClock } from './fake-clock.js'

describe('fakeClock', () => {
  it('T-12: stands still until it is moved', () => {
    const clock = fakeClock({ now: 1_000 })
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0])
    clock.advance(250)
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250])
  })

  it('T-12: fires timers by due time, equal ones in the order of arming, each at its own time', () => {
    const clock = fakeClock({ now: 0 })
    const fired: string[] = []
    clock.setTimeout(() => fired.push(`b@${clock.now()}`), 20)
    clock.setTimeout(() => fired.push(`a@${clock.now()}`), 10)
    clock.setTimeout(() => fired.push(`c@${clock.now()}`), 20)
    clock.setTimeout(() => fired.push('late'), 21)
    clock.advance(20)
    expect(fired).toEqual(['a@10', 'b@20', 'c@20'])
    expect(clock.timers).toBe(1)
    expect(clock.nextTimerMs).toBe(1)
  })

  it('fires timers that are armed while time moves, when they are due too', () => {
    const clock = fakeClock()
    const fired: number[] = []
    const again = () => {
      fired.push(clock.monotonic())
      clock.setTimeout(again, 10)
    }
    clock.setTimeout(again, 10)
    clock.advance(35)
    expect(fired).toEqual([10, 20, 30])
    expect(clock.monotonic()).toBe(35)
  })

  it('a cancelled timer does not fire and is not counted', () => {
    const clock = fakeClock()
    let fired = 0
    const timer = clock.setTimeout(() => {
      fired += 1
    }, 5)
    timer.cancel()
    timer.cancel()
    clock.advance(10)
    expect([fired, clock.timers]).toEqual([0, 0])
  })

  it('a timer of 0 ms fires on the next move, never inside setTimeout', () => {
    const clock = fakeClock()
    let fired = 0
    clock.setTimeout(() => {
      fired += 1
    }, 0)
    expect(fired).toBe(0)
    clock.advance(0)
    expect(fired).toBe(1)
  })

  it('tick lets promises run between two timers', async () => {
    const clock = fakeClock()
    const seen: string[] = []
    const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
    const work = async () => {
      await sleep(10)
      seen.push(`first@${clock.monotonic()}`)
      await sleep(10)
      seen.push(`second@${clock.monotonic()}`)
    }
    const done = work()
    await clock.tick(25)
    await done
    expect(seen).toEqual(['first@10', 'second@20'])
  })

  it('settle moves time until a promise settles, with its result or its error', async () => {
    const clock = fakeClock()
    const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
    expect(await clock.settle(sleep(5_000).then(() => 'done'))).toBe('done')
    expect(clock.monotonic()).toBe(5_000)
    await expect(clock.settle(sleep(1).then(() => Promise.reject(new Error('no'))))).rejects.toThrow('no')
  })

  it('settle refuses by name when no timer is left', async () => {
    const clock = fakeClock()
    const error = await clock.settle(new Promise(() => {})).catch((thrown: unknown) => thrown)
    expect(SluiceError.isInstance(error, 'CLOCK_STUCK')).toBe(true)
  })

  it('a timer that is let go fires as before and is not counted', () => {
    const clock = fakeClock()
    let fired = 0
    const timer = clock.setTimeout(() => {
      fired += 1
    }, 5)
    timer.hold?.(false)
    expect(clock.timers).toBe(0)
    timer.hold?.(true)
    expect(clock.timers).toBe(1)
    timer.hold?.(false)
    clock.advance(5)
    expect(fired).toBe(1)
  })

  it('block moves time and fires nothing; what fell due fires at the next move', () => {
    const clock = fakeClock({ now: 0 })
    const fired: number[] = []
    clock.setTimeout(() => fired.push(clock.now()), 10)
    clock.block(25)
    expect([clock.now(), fired]).toEqual([25, []])
    clock.advance(0)
    expect(fired).toEqual([25])
  })

  it('time never goes back where a timer blocks beyond the move that fired it', async () => {
    const clock = fakeClock({ now: 0 })
    clock.setTimeout(() => clock.block(100), 10)
    clock.advance(10)
    expect(clock.monotonic()).toBe(110)
    clock.setTimeout(() => clock.block(100), 10)
    await clock.tick(10)
    expect(clock.monotonic()).toBe(220)
  })

  it('setNow moves the wall clock only', () => {
    const clock = fakeClock({ now: 1_000 })
    let fired = 0
    clock.setTimeout(() => {
      fired += 1
    }, 10)
    clock.setNow(500)
    expect([clock.now(), clock.monotonic(), fired]).toEqual([500, 0, 0])
  })

  it('refuses a time that is not finite or runs backwards', () => {
    const clock = fakeClock()
    for (const bad of [() => clock.advance(-1), () => clock.advance(Number.NaN), () => fakeClock({ now: Infinity })]) {
      expect(bad).toThrow(expect.objectContaining({ code: 'CLOCK_INVALID' }))
    }
    expect(() => clock.setTimeout(() => {}, Number.NaN)).toThrow(expect.objectContaining({ code: 'CLOCK_INVALID' }))
  })
})
