import { describe, expect, it } from 'vitest'
import type { Engine, Steps } from '@sluice/core'
import { inlineEngine } from '@sluice/core'
import { describeEngine } from './describe-engine.js'
import type { MakeEngine } from './engine-rig.js'
import { engineRows } from './engine-rows.js'

describeEngine('inline', (parts) => inlineEngine(parts))

/** The inline engine with one fault: `wrap` changes the steps of each run. */
const broken =
  (wrap: (steps: Steps) => Partial<Steps>, change: (engine: Engine) => Partial<Engine> = () => ({})): MakeEngine =>
  (parts) => {
    const engine = inlineEngine(parts)
    const faulty = (steps: Steps): Steps =>
      new Proxy(steps, {
        get(target, key) {
          const changed = wrap(target) as Record<PropertyKey, unknown>
          if (Object.hasOwn(changed, key)) return changed[key]
          const value = Reflect.get(target, key, target) as unknown
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    return {
      ...engine,
      run: (id, body, journal) => engine.run(id, (steps) => body(faulty(steps)), journal),
      ...change(engine),
    }
  }

const faults: readonly (readonly [title: string, makeEngine: MakeEngine])[] = [
  ['runs recorded steps again', broken(() => ({ step: async (_name, fn) => fn() }))],
  [
    'gives errors back as bare ones',
    broken((steps) => ({
      step: (name, fn) =>
        steps.step(name, async () => {
          try {
            return await fn()
          } catch (error) {
            throw new Error(String(error))
          }
        }),
    })),
  ],
  ['takes any name', broken((steps) => ({ step: (_name, fn) => steps.step('same', fn) }))],
  ['draws the time anew', broken(() => ({ now: () => Date.now() }))],
  ['draws ids anew', broken(() => ({ id: () => String(Math.random()) }))],
  ['sleeps not at all', broken(() => ({ sleep: async () => {} }))],
  ['forgets what was begun', broken(() => ({ begin: (_name, value) => value }))],
  ['forgets what was closed', broken(() => ({ close: () => {} }))],
  ['gives branches the steps of their parent', broken((steps) => ({ branch: (_name, fn) => fn(steps) }))],
  [
    'keeps what should be forgotten',
    broken(
      () => ({}),
      () => ({ forget: () => {} }),
    ),
  ],
  [
    'ignores the journal',
    broken(
      () => ({}),
      (engine) => ({ run: (id, body) => engine.run(id, body) }),
    ),
  ],
]

describe('engineRows', () => {
  it.each(faults)('T-15: finds an engine that %s', async (_title, makeEngine) => {
    const failed: string[] = []
    for (const row of engineRows(makeEngine)) {
      try {
        await row.run()
      } catch {
        failed.push(row.title)
      }
    }
    expect(failed).not.toEqual([])
  })
})
