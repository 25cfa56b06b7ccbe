import assert from 'node:assert/strict'
import type { BenchAnswer, GatePoint, JsonValue, PluginInstance } from '@sluice/core'
import { Land, Pause, Refusal, SluiceError, Stage, Veto, Wait } from '@sluice/core'
import type { Failure } from '../plugins/failing-plugin.js'
import { FAILURES, failingPlugin } from '../plugins/failing-plugin.js'
import type { ContractRow } from './contract-row.js'
import type { LifeStep } from './plugin-life.js'
import { lifeOf, tappedSteps } from './plugin-life.js'
import type { PluginRig, StoppingAnswer } from './plugin-rig.js'
import { fresh, ROOT } from './plugin-rig.js'
import { faultyStore } from './plugin-storage.js'

/** What a storage that is down does, in the ways of CASE-01. */
const STORE_FAULTS: Readonly<Record<string, () => Promise<never>>> = {
  'rejects with an Error': () => Promise.reject(new SluiceError('STORE_FAILED', 'The store is down.')),
  'rejects with a string': () => Promise.reject('down'),
  'rejects with undefined': () => Promise.reject(undefined),
  'never settles': () => new Promise(() => {}),
}

/** CASE-01 with this plugin in the set: nothing that fails beside it or below it becomes a pass. */
export function pluginFailureRows(plugin: PluginRig): readonly ContractRow[] {
  return [
    ...(['first', 'last'] as const).map((place) => besideRow(plugin, place)),
    ...Object.entries(STORE_FAULTS).map(([what, fault]) => storageRow(plugin, what, fault)),
    stoppingRow(plugin),
  ]
}

function besideRow({ make, open, play, playUpTo, gates }: PluginRig, place: 'first' | 'last'): ContractRow {
  return {
    title: `CASE-01: a gate that fails beside it, asked ${place}, stops every point that it taps, in every way of failing`,
    async run() {
      for (const point of await gates()) {
        for (const { as, answer } of FAILURES) {
          const rig = await open(withFailing(make(), point, as, place))
          const [outcome] = await play(rig, [await playUpTo(rig, point)])
          assert.equal(outcome?.answer, answer, `${point} with a gate that does "${as}" answered ${outcome?.answer}`)
          await rig.bench.dispose()
        }
      }
    },
  }
}

function storageRow(plugin: PluginRig, what: string, fault: () => Promise<never>): ContractRow {
  return {
    title: `CASE-01: no gate passes that asked a storage which ${what}`,
    async run() {
      for (const point of await plugin.gates()) {
        const around = fresh()
        await plugin.options.prepare?.(around.store)
        const faulty = faultyStore(around.store)
        const rig = await plugin.open([plugin.make()], { ...around, store: faulty.store })
        const step = await plugin.playUpTo(rig, point)
        faulty.fail(fault)
        const [outcome] = await plugin.play(rig, [step])
        const asked = faulty.calls
        faulty.fail(undefined)
        assert.ok(asked === 0 || outcome?.answer !== 'passed', `${point} passed although its storage ${what}`)
        await rig.bench.dispose()
      }
    },
  }
}

function stoppingRow({ options: { stopping }, open, play }: PluginRig): ContractRow {
  if (stopping === undefined) {
    return { title: 'stops in its stopping situation (not checked: give `stopping`)', skip: true, run() {} }
  }
  const { answer: expected = 'vetoed', earlier = [] } = stopping
  const { isInstance, verb } = ANSWERS[expected]
  return {
    title: `${verb} with ${stopping.code} at ${stopping.point}, each time it is asked, and its answer is JSON`,
    async run() {
      const rig = await open()
      await stopping.prepare?.(rig.store)
      const life = tappedSteps(rig.bench, lifeOf(ROOT, stopping))
      const at = life.findIndex((step) => step.point === stopping.point)
      assert.ok(at >= 0, `it does not tap ${stopping.point}`)
      await play(rig, life.slice(0, at), stopping)
      const { input } = life[at] as LifeStep
      for (const facts of earlier) {
        const before: BenchAnswer = await rig.clock.settle(
          rig.bench.ask(stopping.point, { ...input, ...facts }, stopping),
        )
        assert.equal(before.answer, 'passed', `an earlier effect did not pass: ${before.error?.message}`)
      }
      for (const time of ['first', 'second']) {
        const answer: BenchAnswer = await rig.clock.settle(rig.bench.ask(stopping.point, input, stopping))
        assert.ok(
          answer.answer === expected && isInstance(answer.error, stopping.code),
          `asked the ${time} time it answered ${answer.answer} ${answer.error?.code ?? ''}`,
        )
        const json: JsonValue = (answer.error as SluiceError).toJSON()
        assert.deepEqual(JSON.parse(JSON.stringify(json)), json)
      }
      await rig.bench.dispose()
    },
  }
}

/** How each answer shows. */
const ANSWERS: Readonly<
  Record<StoppingAnswer, { readonly verb: string; isInstance(error: unknown, code?: string): boolean }>
> = {
  vetoed: { verb: 'vetoes', isInstance: (error, code) => Veto.isInstance(error, code) },
  refused: { verb: 'refuses', isInstance: (error, code) => Refusal.isInstance(error, code) },
  paused: { verb: 'pauses', isInstance: (error, code) => Pause.isInstance(error, code) },
  waited: { verb: 'waits', isInstance: (error, code) => Wait.isInstance(error, code) },
  landed: { verb: 'lands', isInstance: (error, code) => Land.isInstance(error, code) },
}

/** Below every stage that a plugin of ours uses. */
const FIRST_STAGE = -1_000

function withFailing(
  plugin: PluginInstance,
  point: GatePoint,
  as: Failure,
  place: 'first' | 'last',
): readonly PluginInstance[] {
  const stage = place === 'first' ? FIRST_STAGE : Stage.record
  const failing = failingPlugin({ point, as, name: 'contract-failing-plugin', stage })
  return place === 'first' ? [failing, plugin] : [plugin, failing]
}
