import assert from 'node:assert/strict'
import type { BenchAnswer, GatePoint, HookBench, Ids, JsonValue, PluginInstance, Store } from '@sluice/core'
import {
  createHookBench,
  createMemoryStore,
  definePlugin,
  HOOK_API,
  isPluginInstance,
  SluiceError,
  Veto,
} from '@sluice/core'
import { capturedLogger } from '../captured-logger.js'
import { fakeIds } from '../fake-ids.js'
import type { Failure } from '../plugins/failing-plugin.js'
import { FAILURES, failingPlugin } from '../plugins/failing-plugin.js'
import type { FakeClock } from '../time/fake-clock.js'
import { fakeClock } from '../time/fake-clock.js'
import type { ContractRow } from './contract-row.js'
import { findImportWork } from './import-work.js'
import type { LifeStep, Situation, StepOutcome } from './plugin-life.js'
import { isGate, lifeOf, playStep, tappedSteps } from './plugin-life.js'
import type { StoredByPlugin } from './plugin-storage.js'
import { faultyStore, readPluginStorage } from './plugin-storage.js'

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
    readonly prepare?: (store: Store) => Promise<void> | void
  }
  /** Fills the plugin's storage before each row, under the namespace `plugin:<name>`. */
  readonly prepare?: (store: Store) => Promise<void> | void
}

/** What stays when a process starts again. */
interface Surroundings {
  readonly clock: FakeClock
  readonly store: Store
  readonly ids: Ids
}

interface Rig extends Surroundings {
  readonly bench: HookBench
}

function fresh(): Surroundings {
  const clock = fakeClock()
  return { clock, store: createMemoryStore({ clock }), ids: fakeIds() }
}

const ROOT = '01940000-0000-7000-8000-0000000000aa'
const OTHER_ROOT = '01940000-0000-7000-8000-0000000000bb'

/** What a storage that is down does, in the ways of CASE-01. */
const STORE_FAULTS: Readonly<Record<string, () => Promise<never>>> = {
  'rejects with an Error': () => Promise.reject(new SluiceError('STORE_FAILED', 'The store is down.')),
  'rejects with a string': () => Promise.reject('down'),
  'rejects with undefined': () => Promise.reject(undefined),
  'never settles': () => new Promise(() => {}),
}

/** The ground rules that every plugin keeps. `describeHookPlugin` runs them under vitest. */
export function hookPluginRows(make: () => PluginInstance, options: HookPluginOptions = {}): readonly ContractRow[] {
  const passing = options.passing ?? {}
  const key = keyOf(make())

  /** A fresh bench with storage of its own, or one that carries on with what `before` had. */
  async function open(plugins: readonly PluginInstance[] = [make()], before?: Surroundings): Promise<Rig> {
    const around = before ?? fresh()
    if (before === undefined) await options.prepare?.(around.store)
    const bench = await createHookBench(plugins, { ...around, logger: capturedLogger() })
    return { ...around, bench }
  }

  /** Plays steps and never waits in real time: whatever waits for the clock gets it. */
  async function play(rig: Rig, steps: readonly LifeStep[], situation: Situation): Promise<StepOutcome[]> {
    const outcomes: StepOutcome[] = []
    for (const step of steps) outcomes.push(await rig.clock.settle(playStep(rig.bench, step, situation)))
    return outcomes
  }

  async function remains(
    rig: Rig,
    root = ROOT,
    pluginKey = key,
  ): Promise<{ stored: StoredByPlugin; state: JsonValue }> {
    return { stored: await readPluginStorage(rig.store, pluginKey), state: rig.bench.runState(root)[pluginKey] ?? null }
  }

  const passingLife = (rig: Rig, root = ROOT) => tappedSteps(rig.bench, lifeOf(root, passing))

  const importRow: ContractRow =
    options.module === undefined
      ? { title: 'does no work at import (not checked: give `module`)', skip: true, run() {} }
      : {
          title: 'does no work at import',
          async run() {
            const work = await findImportWork(options.module as URL, options.conditions)
            assert.deepEqual(work, [], `importing the module did: ${work.join(', ')}`)
          },
        }

  return [
    importRow,
    {
      title: `says its name and the hook contract that it was written for (${HOOK_API})`,
      run() {
        const instance = make()
        assert.ok(isPluginInstance(instance), 'what was made is no plugin; make it with definePlugin')
        assert.equal(instance.spec.hookApi, HOOK_API)
        assert.match(instance.name, /^[a-z0-9@][a-z0-9@/._-]*$/)
      },
    },
    ...Object.entries({ 'options that are no options': () => remake(make(), 42), ...options.badOptions }).map(
      ([what, makeBad]): ContractRow => ({
        title: `refuses ${what} with a code`,
        async run() {
          const error = await failureOf(async () => open([makeBad()]))
          assert.ok(SluiceError.isInstance(error), `expected an error with a code, got ${String(error)}`)
          assert.match(error.code, /^[A-Z][A-Z0-9_]*$/)
        },
      }),
    ),
    {
      title: 'passes in its passing situation, and changes nothing of what it is told',
      async run() {
        const rig = await open()
        const outcomes = await play(rig, passingLife(rig), passing)
        assert.ok(outcomes.length > 0, 'the plugin taps no point of a run')
        for (const outcome of outcomes) {
          if (isGate(outcome.point)) assert.equal(outcome.answer, 'passed', `${outcome.point}: ${outcome.message}`)
        }
        // what a plugin is told is frozen: writing to it throws, which a gate answers as failed and an observer counts here
        assert.deepEqual([rig.bench.health.errors, rig.bench.health.lastError], [0, null])
        await rig.bench.dispose()
      },
    },
    ...(['beside it, asked first', 'beside it, asked last'] as const).map(
      (place): ContractRow => ({
        title: `CASE-01: a gate that fails ${place} stops every point that it taps, in every way of failing`,
        async run() {
          for (const point of await gatesOf(open)) {
            for (const { as, answer } of FAILURES) {
              const rig = await open(withFailing(make(), point, as, place === 'beside it, asked first'))
              const outcome = await playTo(rig, play, passingLife(rig), passing, point)
              assert.equal(outcome.answer, answer, `${point} with a gate that does "${as}" answered ${outcome.answer}`)
              await rig.bench.dispose()
            }
          }
        },
      }),
    ),
    ...Object.entries(STORE_FAULTS).map(
      ([what, fault]): ContractRow => ({
        title: `CASE-01: no gate passes that asked a storage which ${what}`,
        async run() {
          for (const point of await gatesOf(open)) {
            const around = fresh()
            await options.prepare?.(around.store)
            const faulty = faultyStore(around.store)
            const rig = await open([make()], { ...around, store: faulty.store })
            const life = passingLife(rig)
            const at = life.findIndex((step) => step.point === point)
            await play(rig, life.slice(0, at), passing)
            faulty.fail(fault)
            const [outcome] = await play(rig, life.slice(at, at + 1), passing)
            const asked = faulty.calls
            faulty.fail(undefined)
            assert.ok(asked === 0 || outcome?.answer !== 'passed', `${point} passed although its storage ${what}`)
            await rig.bench.dispose()
          }
        },
      }),
    ),
    {
      title: 'asked twice for one attempt it answers twice and has one effect',
      async run() {
        for (const point of await gatesOf(open)) {
          const rig = await open()
          const life = passingLife(rig)
          const at = life.findIndex((step) => step.point === point)
          await play(rig, life.slice(0, at), passing)
          const step = life.slice(at, at + 1)
          const first = await play(rig, step, passing)
          const once = await remains(rig)
          const second = await play(rig, step, passing)
          assert.deepEqual(second, first, `${point} answered otherwise when it was asked again`)
          assert.deepEqual(await remains(rig), once, `${point} counted or wrote again when it was asked again`)
          await rig.bench.dispose()
        }
      },
    },
    {
      title: 'told of the end twice, the second time as recovered, it has one effect',
      async run() {
        const rig = await open()
        const life = passingLife(rig)
        await play(rig, life, passing)
        const once = await remains(rig)
        const last = life.filter((step) => step.point === 'afterExecution')
        await play(
          rig,
          last.map((step) => ({ ...step, input: { ...step.input, recovered: true } })),
          passing,
        )
        assert.deepEqual(await remains(rig), once)
        await rig.bench.dispose()
      },
    },
    {
      title: 'two instances share nothing, in two runtimes and in one store',
      async run() {
        const alone = await open()
        const expected = await play(alone, passingLife(alone), passing)
        const expectedRemains = await remains(alone)
        const first = await open()
        await play(first, passingLife(first, OTHER_ROOT), passing)
        await play(first, passingLife(first), passing)
        const second = await open()
        assert.deepEqual(await play(second, passingLife(second), passing), expected, 'it remembers another runtime')
        assert.deepEqual(await remains(second), expectedRemains, 'what another runtime did shows in its storage')
        // two instances of one plugin, told apart by an id, on one store
        const named = await open([remake(make(), make().options, 'contract-1')])
        await play(named, passingLife(named), passing)
        const before = await readPluginStorage(named.store, `${make().name}#contract-1`)
        const other = await open([remake(make(), make().options, 'contract-2')], named)
        await play(other, passingLife(other), passing)
        assert.deepEqual(
          await readPluginStorage(named.store, `${make().name}#contract-1`),
          before,
          'it wrote to another instance',
        )
        for (const rig of [alone, first, second, named, other]) await rig.bench.dispose()
      },
    },
    {
      title: 'a restart between any two hook points changes nothing',
      async run() {
        const whole = await open()
        const life = passingLife(whole)
        const expected = await play(whole, life, passing)
        const expectedRemains = await remains(whole)
        await whole.bench.dispose()
        for (let cut = 1; cut < life.length; cut++) {
          const before = await open()
          const outcomes = await play(before, life.slice(0, cut), passing)
          await before.bench.dispose()
          const after = await open([make()], before)
          after.bench.restore(ROOT, before.bench.runState(ROOT))
          outcomes.push(...(await play(after, life.slice(cut), passing)))
          const place = `after a restart between ${life[cut - 1]?.point} and ${life[cut]?.point}`
          assert.deepEqual(outcomes, expected, `it answered otherwise ${place}`)
          assert.deepEqual(await remains(after), expectedRemains, `it kept something else ${place}`)
          await after.bench.dispose()
        }
      },
    },
    {
      title: 'leaves nothing running when it is disposed',
      async run() {
        const before = running()
        const rig = await open()
        await play(rig, passingLife(rig), passing)
        assert.deepEqual(await rig.bench.dispose(), [], 'dispose threw')
        assert.equal(rig.clock.timers, 0, 'timers of its clock are left')
        assert.deepEqual(running(), before, 'timers, sockets or listeners of the process are left')
      },
    },
    stoppingRow(open, play, options.stopping),
  ]
}

type Open = (plugins?: readonly PluginInstance[], before?: Surroundings) => Promise<Rig>
type Play = (rig: Rig, steps: readonly LifeStep[], situation: Situation) => Promise<StepOutcome[]>

function stoppingRow(open: Open, play: Play, stopping: HookPluginOptions['stopping']): ContractRow {
  if (stopping === undefined) {
    return { title: 'stops in its stopping situation (not checked: give `stopping`)', skip: true, run() {} }
  }
  return {
    title: `vetoes with ${stopping.code} at ${stopping.point}, each time it is asked, and its answer is JSON`,
    async run() {
      const rig = await open()
      await stopping.prepare?.(rig.store)
      const life = tappedSteps(rig.bench, lifeOf(ROOT, stopping))
      const at = life.findIndex((step) => step.point === stopping.point)
      assert.ok(at >= 0, `it does not tap ${stopping.point}`)
      await play(rig, life.slice(0, at), stopping)
      for (const time of ['first', 'second']) {
        const answer: BenchAnswer = await rig.clock.settle(
          rig.bench.ask(stopping.point, (life[at] as LifeStep).input, stopping),
        )
        assert.ok(
          Veto.isInstance(answer.error, stopping.code),
          `asked the ${time} time it answered ${answer.answer} ${answer.error?.code ?? ''}`,
        )
        const json: JsonValue = answer.error.toJSON()
        assert.deepEqual(JSON.parse(JSON.stringify(json)), json)
      }
      await rig.bench.dispose()
    },
  }
}

async function gatesOf(open: Open): Promise<readonly GatePoint[]> {
  const { bench } = await open()
  await bench.dispose()
  return bench.points.filter(isGate)
}

/** Plays a life up to the first step at `point` and gives what came of that. */
async function playTo(
  rig: Rig,
  play: Play,
  life: readonly LifeStep[],
  situation: Situation,
  point: GatePoint,
): Promise<StepOutcome> {
  const at = life.findIndex((step) => step.point === point)
  const outcomes = await play(rig, life.slice(0, at + 1), situation)
  return outcomes[at] as StepOutcome
}

const FIRST_STAGE = -1_000
const LAST_STAGE = 200

function withFailing(plugin: PluginInstance, point: GatePoint, as: Failure, first: boolean): readonly PluginInstance[] {
  const failing = failingPlugin({ point, as, name: 'contract-failing-plugin', stage: first ? FIRST_STAGE : LAST_STAGE })
  return first ? [failing, plugin] : [plugin, failing]
}

/** The same plugin with other options or another id. */
function remake(instance: PluginInstance, given: unknown, id?: string): PluginInstance {
  const factory = definePlugin(instance.spec as never) as unknown as (
    options?: unknown,
    instance?: { readonly id?: string },
  ) => PluginInstance
  return factory(given, id === undefined ? undefined : { id })
}

function keyOf(instance: PluginInstance): string {
  return instance.id === undefined ? instance.name : `${instance.name}#${instance.id}`
}

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return assert.fail('it was accepted')
}

/** What keeps the process busy, by kind, and how many listeners it has. */
function running(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  for (const name of process.eventNames()) counts[`on ${String(name)}`] = process.listenerCount(name)
  return counts
}
