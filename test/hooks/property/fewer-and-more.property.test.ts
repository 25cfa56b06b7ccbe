import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Account } from './account.js'
import { composition, pluginShape } from './arbitrary.js'
import type { Composition } from './composition.js'
import { fuzzRuns, fuzzSeed } from './fuzz-settings.js'
import { Stage } from './play-on.js'

/** Plugins that say the same in every asking, so that what one answers does not depend on what the others let it be asked. */
const steady = composition(1, 6).map(
  (shape): Composition => ({ ...shape, maxWaitMs: 0, plugins: shape.plugins.map(steadily) }),
)
const steadily = (plugin: Composition['plugins'][number]): Composition['plugins'][number] => ({
  ...plugin,
  gates: plugin.gates.map((gate) => ({ ...gate, acts: gate.acts.slice(0, 1) })),
})

/** Effects that gates stopped or refused before they began. */
const held = ({ receipts }: Account) =>
  Object.keys(receipts).filter(
    (key) => ['stopped', 'aborted', 'refused'].includes(receipts[key]?.outcome ?? '') && receipts[key]?.sent === 'no',
  )
/** Effects that began. */
const begun = ({ receipts }: Account) =>
  Object.keys(receipts).filter((key) => key !== 'execution#1' && receipts[key]?.sent !== 'no')
const isStop = ({ result }: Account) => result !== 'completed' && result !== 'paused'

it('CASE-03: adding a plugin never lets through what the others stopped', async () => {
  const runs = fuzzRuns(1_000)
  const seed = fuzzSeed()
  console.log(`one more plugin: ${runs} compositions, seed ${seed}`)
  const stage = new Stage()
  let seen = 0
  await fc.assert(
    fc.asyncProperty(steady, pluginShape(1).map(steadily), fc.nat(), async (shape, more, at) => {
      const before = await stage.play(shape)
      const place = at % (shape.plugins.length + 1)
      const after = await stage.play({ ...shape, plugins: shape.plugins.toSpliced(place, 0, more) })
      const stopped = held(before)
      if (stopped.length > 0) seen += 1
      expect(begun(after).filter((effect) => stopped.includes(effect))).toEqual([])
    }),
    { seed, numRuns: runs },
  )
  await stage.close()
  expect(seen).toBeGreaterThan(runs / 5)
}, 3_600_000)

it('CASE-03: removing a plugin that passed never lets through what the others stopped', async () => {
  const runs = fuzzRuns(1_000)
  const seed = fuzzSeed(1)
  console.log(`one plugin less: ${runs} compositions, seed ${seed}`)
  const stage = new Stage()
  let seen = 0
  await fc.assert(
    fc.asyncProperty(steady, fc.nat(), async (shape, at) => {
      const before = await stage.play(shape)
      const passed = shape.plugins.map((_, place) => place).filter((place) => alwaysPassed(before, shape, place))
      const place = passed[at % passed.length]
      if (place === undefined || shape.plugins.length === 1) return
      const after = await stage.play({ ...shape, plugins: shape.plugins.toSpliced(place, 1) })
      const stopped = held(before)
      expect(begun(after).filter((effect) => stopped.includes(effect))).toEqual([])
      if (!isStop(before)) return
      seen += 1
      expect(after.result).toBe(before.result)
    }),
    { seed, numRuns: runs },
  )
  await stage.close()
  expect(seen).toBeGreaterThan(runs / 20)
}, 3_600_000)

function alwaysPassed({ receipts }: Account, shape: Composition, place: number): boolean {
  const name = `${shape.plugins[place]?.shadow === true ? 'shadow:' : ''}p${place} `
  const rows = Object.values(receipts).flatMap(({ askings }) => askings.flat())
  return rows
    .filter((row) => row.startsWith(name))
    .every((row) => row.endsWith(' passed') || row.endsWith(' not_asked'))
}
