import type { TapKind } from '../subjects/plugins.js'

/** One set of plugins that the runtime is measured with, and what it may cost against the raw loop. */
export interface PluginSet {
  /** Part of the names of figures. */
  readonly name: string
  readonly plugins: number
  readonly kind: TapKind
  /** The most that the ratio of CPU time may be in a scenario; `undefined` where nothing was promised. */
  cpuTarget(scenario: string): number | undefined
}

export const SETS: readonly PluginSet[] = [
  { name: '0-plugins', plugins: 0, kind: 'sync', cpuTarget: () => undefined },
  { name: '5-sync', plugins: 5, kind: 'sync', cpuTarget: targets(1.15, 1.2) },
  { name: '5-async', plugins: 5, kind: 'async', cpuTarget: targets(1.25, 1.4) },
  { name: '20-sync', plugins: 20, kind: 'sync', cpuTarget: targets(1.3, 1.3) },
  { name: '20-async', plugins: 20, kind: 'async', cpuTarget: targets(1.65, 1.65) },
]

function targets(rounds: number, calls: number): (scenario: string) => number | undefined {
  return (scenario) => (scenario === '0-rounds' ? undefined : scenario === '10-calls' ? calls : rounds)
}
