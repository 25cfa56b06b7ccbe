import { AsyncSeriesHook } from 'tapable'
import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import type { HookPoint } from './hook-points.js'
import { HOOK_POINTS } from './hook-points.js'
import { Stage } from './stage.js'
import { createTapSurface } from './tap-surface.js'

const TIMEOUTS = { hookTimeoutMs: 5_000, observerTimeoutMs: 3_000 }
const nothing = () => undefined
type AnyHook = Record<
  'tap' | 'tapPromise' | 'tapAsync' | 'intercept' | 'withOptions' | 'call' | 'promise' | 'callAsync',
  (...args: unknown[]) => unknown
>
const hookOf = (surface: ReturnType<typeof createTapSurface>, point: HookPoint) =>
  surface.hooks[point] as unknown as AnyHook

function compiled(tap: (hook: AnyHook) => void, point: HookPoint = 'beforeToolCall') {
  const surface = createTapSurface('rules')
  tap(hookOf(surface, point))
  surface.seal()
  return surface.taps({ key: 'rules', shadow: false }, TIMEOUTS)
}

function faultOf(fn: () => unknown): SluiceError {
  try {
    fn()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
  }
  throw new Error('nothing of ours was thrown')
}

describe('taps of a plugin', () => {
  it.each(['tap', 'tapPromise', 'tapAsync'] as const)(
    '%s takes a name, or name, stage, before and timeoutMs',
    (kind) => {
      const taps = compiled((hook) => {
        hook[kind]('short', nothing)
        hook[kind]({ name: 'long', stage: Stage.policy, timeoutMs: 100 }, nothing)
      })
      expect(taps).toMatchObject([
        {
          name: 'short',
          kind,
          stage: Stage.limit,
          timeoutMs: 5_000,
          plugin: 'rules',
          origin: { plugin: 'rules', point: 'beforeToolCall' },
        },
        { name: 'long', kind, stage: Stage.policy, timeoutMs: 100 },
      ])
    },
  )

  it('a gate has hookTimeoutMs where it says nothing, an observer and the prompt chain observerTimeoutMs', () => {
    for (const point of Object.keys(HOOK_POINTS) as HookPoint[]) {
      const [tap] = compiled((hook) => hook.tap('x', nothing), point)
      expect(tap?.timeoutMs).toBe(HOOK_POINTS[point].kind === 'gate' ? 5_000 : 3_000)
    }
  })

  it.each([
    ['no function', (hook: AnyHook) => hook.tap('x', 'a string')],
    ['no options', (hook: AnyHook) => hook.tap(undefined, nothing)],
    ['a list as options', (hook: AnyHook) => hook.tap(['x'], nothing)],
    ['no name', (hook: AnyHook) => hook.tap({ stage: 1 }, nothing)],
    ['an empty name', (hook: AnyHook) => hook.tap('  ', nothing)],
    ['an unknown option', (hook: AnyHook) => hook.tap({ name: 'x', type: 'sync' }, nothing)],
    ['the stage NaN', (hook: AnyHook) => hook.tap({ name: 'x', stage: Number.NaN }, nothing)],
    ['the stage Infinity', (hook: AnyHook) => hook.tap({ name: 'x', stage: Number.POSITIVE_INFINITY }, nothing)],
    ['a stage that is text', (hook: AnyHook) => hook.tap({ name: 'x', stage: '1' }, nothing)],
    ['a stage above record', (hook: AnyHook) => hook.tap({ name: 'x', stage: Stage.record + 0.1 }, nothing)],
    ['the deadline 0', (hook: AnyHook) => hook.tap({ name: 'x', timeoutMs: 0 }, nothing)],
    ['no deadline at all', (hook: AnyHook) => hook.tap({ name: 'x', timeoutMs: Number.POSITIVE_INFINITY }, nothing)],
    ['a deadline beyond what timers take', (hook: AnyHook) => hook.tap({ name: 'x', timeoutMs: 2 ** 31 }, nothing)],
    ['a deadline that is text', (hook: AnyHook) => hook.tap({ name: 'x', timeoutMs: '100' }, nothing)],
    ['a `before` that is no name', (hook: AnyHook) => hook.tap({ name: 'x', before: 7 }, nothing)],
    ['intercept', (hook: AnyHook) => hook.intercept({})],
    ['withOptions', (hook: AnyHook) => hook.withOptions({ stage: 1 })],
    ['calling the hook', (hook: AnyHook) => hook.promise({})],
    ['calling it with a callback', (hook: AnyHook) => hook.callAsync({}, nothing)],
  ])('CASE-01: %s is refused, naming plugin and point', (_what, tap) => {
    const error = faultOf(() => compiled(tap))
    expect(error.code).toBe('HOOK_REGISTRATION')
    expect(error.message).toContain('Plugin "rules" cannot tap beforeToolCall')
    expect(error.details).toEqual({ plugin: 'rules', point: 'beforeToolCall' })
  })

  it('a stage is any finite number up to record, in between the named ones too', () => {
    const taps = compiled((hook) => {
      for (const stage of [-1e9, -0.5, Stage.record]) hook.tap({ name: `at ${stage}`, stage }, nothing)
    })
    expect(taps.map(({ stage }) => stage)).toEqual([-1e9, -0.5, 200])
  })

  it('after apply every registration is refused with HOOKS_SEALED', () => {
    const surface = createTapSurface('rules')
    surface.seal()
    for (const kind of ['tap', 'tapPromise', 'tapAsync'] as const) {
      const error = faultOf(() => hookOf(surface, 'beforeModelCall')[kind]('late', nothing))
      expect([error.code, error.details]).toEqual(['HOOKS_SEALED', { plugin: 'rules', point: 'beforeModelCall' }])
    }
    expect(surface.taps({ key: 'rules', shadow: false }, TIMEOUTS)).toEqual([])
  })

  it("the hooks are tapable's own class, and what is registered cannot be reached through them", () => {
    const surface = createTapSurface('rules')
    const hook = surface.hooks.beforeToolCall as unknown as AsyncSeriesHook<[unknown]>
    // tapable's classes have no prototype to ask with instanceof
    expect(hook.constructor).toBe(AsyncSeriesHook)
    hookOf(surface, 'beforeToolCall').tap('mine', nothing)
    expect(hook.taps).toEqual([])
    expect(Object.isFrozen(hook)).toBe(true)
    expect(Object.isFrozen(surface.hooks)).toBe(true)
    expect(() => Object.assign(hook, { tap: nothing })).toThrow(TypeError)
  })

  it('what happens to the options afterwards changes nothing', () => {
    const options = { name: 'x', stage: 0, timeoutMs: 100 }
    const surface = createTapSurface('rules')
    hookOf(surface, 'beforeToolCall').tap(options, nothing)
    Object.assign(options, { name: 'y', stage: 200, timeoutMs: 1 })
    expect(surface.taps({ key: 'rules', shadow: false }, TIMEOUTS)).toMatchObject([
      { name: 'x', stage: 0, timeoutMs: 100 },
    ])
  })
})

describe('before', () => {
  const order = (tap: (hook: AnyHook) => void) => compiled(tap).map(({ name }) => name)

  it('places a tap before those it names, within one plugin and stage', () => {
    expect(
      order((hook) => {
        hook.tap('a', nothing)
        hook.tap('b', nothing)
        hook.tap({ name: 'c', before: 'b' }, nothing)
        hook.tap({ name: 'd', before: ['a', 'b'] }, nothing)
      }),
    ).toEqual(['c', 'd', 'a', 'b'])
  })

  it('may name a tap that is registered later', () => {
    expect(
      order((hook) => {
        hook.tap({ name: 'first', before: 'second' }, nothing)
        hook.tap('second', nothing)
      }),
    ).toEqual(['first', 'second'])
  })

  it('keeps every promise of a chain, in whatever order the taps are registered', () => {
    const chain = [
      { name: 'a', before: ['b'] },
      { name: 'b', before: ['c'] },
      { name: 'c', before: ['d'] },
      { name: 'd', before: [] },
    ]
    for (const [one, two, three, four] of permutations(chain)) {
      const names = order((hook) => {
        for (const options of [one, two, three, four]) hook.tap(options, nothing)
      })
      expect(names).toEqual(['a', 'b', 'c', 'd'])
    }
  })

  it.each([
    ['an unknown name', { name: 'x', before: 'nobody' }],
    ['itself', { name: 'x', before: 'x' }],
    ['a tap of another stage', { name: 'x', stage: 1, before: 'y' }],
  ])('%s is a fault', (_what, options) => {
    const error = faultOf(() =>
      compiled((hook) => {
        hook.tap('y', nothing)
        hook.tap(options, nothing)
      }),
    )
    expect(error.code).toBe('HOOK_REGISTRATION')
    expect(error.message).toContain('stands before')
  })

  it('a circle is a fault that names it', () => {
    const error = faultOf(() =>
      compiled((hook) => {
        hook.tap({ name: 'a', before: 'b' }, nothing)
        hook.tap({ name: 'b', before: 'a' }, nothing)
      }),
    )
    expect(error.code).toBe('HOOK_REGISTRATION')
    expect(error.message).toMatch(/"a".*"b"|"b".*"a"/)
  })
})

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, place) => permutations(items.toSpliced(place, 1)).map((rest) => [item, ...rest]))
}
