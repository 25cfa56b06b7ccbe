import { describe, it } from 'vitest'
import type { MakeEngine } from './engine-rig.js'
import { engineRows } from './engine-rows.js'

/**
 * Holds an engine to the contract (design 4.8): steps run once, a replay gives recorded results and errors as themselves and
 * refuses another name, time and ids are stable, snapshots are JSON.
 *
 * @example
 * describeEngine('inline', ({ clock, ids }) => inlineEngine({ clock, ids }))
 */
export function describeEngine(name: string, makeEngine: MakeEngine): void {
  describe(`engine contract: ${name}`, () => {
    for (const row of engineRows(makeEngine)) it(row.title, () => row.run())
  })
}
