import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { composition } from './arbitrary.js'
import { fuzzRuns, fuzzSeed } from './fuzz-settings.js'
import { hearRejections } from './hear-rejections.js'
import { predict } from './oracle.js'
import { Stage } from './play-on.js'

/** Of the 10 000 compositions of `npm test`, what one part plays. */
const PART = 5_000

/** The property test of gates, in parts that run side by side; `part` also keeps their seeds apart. */
export function gatesProperty(name: string, part: number): void {
  const rejections = hearRejections()
  beforeAll(rejections.listen)
  afterAll(rejections.stop)

  it(`H-19, H-20, H-32, CASE-01, CASE-03: every composition of plugins ends as the contract says (${name})`, async () => {
    const runs = fuzzRuns(PART)
    const seed = fuzzSeed(part)
    console.log(`gates, ${name}: ${runs} compositions, seed ${seed}`)
    const stage = new Stage()
    let stopped = 0
    await fc.assert(
      fc.asyncProperty(composition(), async (shape) => {
        const expected = predict(shape)
        const account = await stage.play(shape)
        expect(rejections.take(), 'unhandled rejections').toEqual([])
        expect(account).toEqual(expected)
        if (expected.stops.length > 0) stopped += 1
      }),
      { seed, numRuns: runs },
    )
    await stage.close()
    // an empty run proves nothing
    expect(stopped).toBeGreaterThan(runs / 3)
  }, 3_600_000)
}
