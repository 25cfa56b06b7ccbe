import assert from 'node:assert/strict'
import type { ContractRow } from './contract-row.js'
import type { PluginRig } from './plugin-rig.js'
import { remake, ROOT } from './plugin-rig.js'
import { readPluginStorage } from './plugin-storage.js'

const OTHER_ROOT = '01940000-0000-7000-8000-0000000000bb'

/** What a plugin may remember, and where: nothing in memory, nothing twice, nothing of another. */
export function pluginMemoryRows(plugin: PluginRig): readonly ContractRow[] {
  const { make, open, play, life, remains } = plugin
  return [
    {
      title: 'asked twice for one attempt it answers twice and has one effect',
      async run() {
        for (const point of await plugin.gates()) {
          const rig = await open()
          const step = await plugin.playUpTo(rig, point)
          const first = await play(rig, [step])
          const once = await remains(rig)
          const second = await play(rig, [step])
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
        await play(rig, life(rig))
        const once = await remains(rig)
        const last = life(rig).filter((step) => step.point === 'afterExecution')
        await play(
          rig,
          last.map((step) => ({ ...step, input: { ...step.input, recovered: true } })),
        )
        assert.deepEqual(await remains(rig), once)
        await rig.bench.dispose()
      },
    },
    {
      title: 'two instances share nothing, in two runtimes and in one store',
      async run() {
        const alone = await open()
        const expected = await play(alone, life(alone))
        const expectedRemains = await remains(alone)
        const first = await open()
        await play(first, life(first, OTHER_ROOT))
        await play(first, life(first))
        const second = await open()
        assert.deepEqual(await play(second, life(second)), expected, 'it remembers another runtime')
        assert.deepEqual(await remains(second), expectedRemains, 'what another runtime did shows in its storage')
        // two instances of one plugin, told apart by an id, on one store
        const named = await open([remake(make(), make().options, 'contract-1')])
        await play(named, life(named))
        const before = await readPluginStorage(named.store, `${make().name}#contract-1`)
        const other = await open([remake(make(), make().options, 'contract-2')], named)
        await play(other, life(other))
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
        const steps = life(whole)
        const expected = await play(whole, steps)
        const expectedRemains = await remains(whole)
        await whole.bench.dispose()
        for (let cut = 1; cut < steps.length; cut++) {
          const before = await open()
          const outcomes = await play(before, steps.slice(0, cut))
          await before.bench.dispose()
          const after = await open([make()], before)
          after.bench.restore(ROOT, before.bench.runState(ROOT))
          outcomes.push(...(await play(after, steps.slice(cut))))
          const place = `after a restart between ${steps[cut - 1]?.point} and ${steps[cut]?.point}`
          assert.deepEqual(outcomes, expected, `it answered otherwise ${place}`)
          assert.deepEqual(await remains(after), expectedRemains, `it kept something else ${place}`)
          await after.bench.dispose()
        }
      },
    },
  ]
}
