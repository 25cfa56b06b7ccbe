import assert from 'node:assert/strict'
import type { GateInput, GatePoint, HookBench, Ids, JsonValue, PluginInstance, Store } from '@sluice/core'
import { createHookBench, createMemoryStore, definePlugin } from '@sluice/core'
import { capturedLogger } from '../captured-logger.js'
import { fakeIds } from '../fake-ids.js'
import type { FakeClock } from '../time/fake-clock.js'
import { fakeClock } from '../time/fake-clock.js'
import type { LifeStep, Situation, StepOutcome } from './plugin-life.js'
import { isGate, lifeOf, playStep, tappedSteps } from './plugin-life.js'
import type { StoredByPlugin } from './plugin-storage.js'
import { readPluginStorage } from './plugin-storage.js'

/** The answers with which a gate stops an effect on purpose. */
export type StoppingAnswer = 'vetoed' | 'refused' | 'paused' | 'waited' | 'landed'

/** What `describeHookPlugin` is told about a plugin. */
export interface HookPluginOptions {
  /** File of the module that exports the plugin, for the row about imports. Left out, that row is skipped by name. */
  readonly module?: URL
  /** Conditions of package exports with which Node imports `module`. */
  readonly conditions?: readonly string[]
  /** Instances whose options must be refused with a code, by what is wrong with them. */
  readonly badOptions?: Readonly<Record<string, () => PluginInstance>>
  /** A situation in which every gate passes. Default: plain facts of a run with one tool `write_note`, no caller, no context. */
  readonly passing?: Situation
  /** A situation in which one gate stops, its code, and what to store before. Left out, that row is skipped by name. */
  readonly stopping?: Situation & {
    readonly point: GatePoint
    readonly code: string
    /** What it answers with. @default 'vetoed' */
    readonly answer?: StoppingAnswer
    /** Other effects that are asked about at that point before, and pass: what differs of each, such as its `effectId`. */
    readonly earlier?: readonly GateInput<GatePoint>[]
    readonly prepare?: (store: Store) => Promise<void> | void
  }
  /** Fills the plugin's storage before each row, under the namespace `plugin:<name>`. */
  readonly prepare?: (store: Store) => Promise<void> | void
}

/** What stays when a process starts again. */
export interface Surroundings {
  readonly clock: FakeClock
  readonly store: Store
  readonly ids: Ids
}

/** A plugin that has been applied, and what surrounds it. */
export interface Rig extends Surroundings {
  readonly bench: HookBench
}

/** Surroundings in which nothing has happened yet. */
export function fresh(): Surroundings {
  const clock = fakeClock()
  return { clock, store: createMemoryStore({ clock }), ids: fakeIds() }
}

/** Root of the run that the rows play. */
export const ROOT = '01940000-0000-7000-8000-0000000000aa'

/** What the rows of one plugin share. */
export interface PluginRig {
  readonly make: () => PluginInstance
  readonly options: HookPluginOptions
  readonly passing: Situation
  /** A fresh bench with storage of its own, or one that carries on with what `before` had. */
  open(plugins?: readonly PluginInstance[], before?: Surroundings): Promise<Rig>
  /** Plays steps and never waits in real time: whatever waits for the clock gets it. */
  play(rig: Rig, steps: readonly LifeStep[], situation?: Situation): Promise<StepOutcome[]>
  /** The steps of a run in the passing situation that the plugins of `rig` tap. */
  life(rig: Rig, rootExecutionId?: string): readonly LifeStep[]
  /** Plays the steps before the first one at `point`, and returns that one. */
  playUpTo(rig: Rig, point: GatePoint): Promise<LifeStep>
  /** What the plugin has stored, and its state in the run. */
  remains(rig: Rig): Promise<{ readonly stored: StoredByPlugin; readonly state: JsonValue }>
  /** The gate points that the plugin taps. */
  gates(): Promise<readonly GatePoint[]>
}

export function createPluginRig(make: () => PluginInstance, options: HookPluginOptions): PluginRig {
  const passing = options.passing ?? {}
  const key = keyOf(make())

  const self: PluginRig = {
    make,
    options,
    passing,
    async open(plugins = [make()], before) {
      const around = before ?? fresh()
      if (before === undefined) await options.prepare?.(around.store)
      const bench = await createHookBench(plugins, { ...around, logger: capturedLogger() })
      return { clock: around.clock, store: around.store, ids: around.ids, bench }
    },
    async play(rig, steps, situation = passing) {
      const outcomes: StepOutcome[] = []
      for (const step of steps) outcomes.push(await rig.clock.settle(playStep(rig.bench, step, situation)))
      return outcomes
    },
    life: (rig, root = ROOT) => tappedSteps(rig.bench, lifeOf(root, passing)),
    async playUpTo(rig, point) {
      const life = self.life(rig)
      const at = life.findIndex((step) => step.point === point)
      await self.play(rig, life.slice(0, at))
      return life[at] as LifeStep
    },
    async remains(rig) {
      return { stored: await readPluginStorage(rig.store, key), state: rig.bench.runState(ROOT)[key] ?? null }
    },
    async gates() {
      const { bench } = await self.open()
      await bench.dispose()
      return bench.points.filter(isGate)
    },
  }
  return self
}

/** The same plugin with other options or another id. */
export function remake(instance: PluginInstance, given: unknown, id?: string): PluginInstance {
  const factory = definePlugin(instance.spec as never) as unknown as (
    options?: unknown,
    instance?: { readonly id?: string },
  ) => PluginInstance
  return factory(given, id === undefined ? undefined : { id })
}

function keyOf(instance: PluginInstance): string {
  return instance.id === undefined ? instance.name : `${instance.name}#${instance.id}`
}

/** What `work` throws. */
export async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return assert.fail('it was accepted')
}
