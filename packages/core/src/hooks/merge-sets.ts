import type { GatePoint, ObserverPoint } from './hook-points.js'
import { byStage, stampsOf } from './hook-set.js'
import type { AppliedPlugin, CompiledTap, HookSet } from './hook-set.js'

/**
 * The set of a call that is made inside a run on a fork: all that the run started with, and what the fork adds. Nothing is
 * taken away, and a plugin instance that stands in both is asked once.
 */
export function mergeSets(base: HookSet, added: HookSet): HookSet {
  if (base === added) return base
  const known = new Set(base.plugins.map((plugin) => plugin.instance))
  const extra: readonly AppliedPlugin[] = added.plugins.filter((plugin) => !known.has(plugin.instance))
  if (extra.length === 0) return base
  const taps = extra.flatMap((plugin) => plugin.taps)
  const merge = (present: readonly CompiledTap[], point: string): readonly CompiledTap[] => {
    const more = taps.filter((tap) => tap.point === point)
    return more.length === 0 ? present : byStage([...present, ...more])
  }
  const gates = Object.fromEntries(
    Object.entries(base.gates).map(([point, present]) => [point, merge(present, point)]),
  ) as Record<GatePoint, readonly CompiledTap[]>
  const observers = Object.fromEntries(
    Object.entries(base.observers).map(([point, present]) => [point, merge(present, point)]),
  ) as Record<ObserverPoint, readonly CompiledTap[]>
  const plugins = Object.freeze([...base.plugins, ...extra])
  return Object.freeze({
    plugins,
    origin: base.origin,
    stamps: stampsOf(plugins, gates),
    gates: Object.freeze(gates),
    observers: Object.freeze(observers),
    prompt: merge(base.prompt, 'augmentSystemPrompt'),
    dispose: async () => [],
  })
}
