import assert from 'node:assert/strict'
import { HOOK_API, isPluginInstance, SluiceError } from '@sluice/core'
import { drain } from '../time/drain.js'
import type { ContractRow } from './contract-row.js'
import { findImportWork } from './import-work.js'
import { isGate } from './plugin-life.js'
import type { PluginRig } from './plugin-rig.js'
import { failureOf, remake } from './plugin-rig.js'

/** What a plugin is before it is asked anything, and what it leaves behind. */
export function pluginShapeRows({ make, options, open, play, life }: PluginRig): readonly ContractRow[] {
  return [
    importRow(options.module, options.conditions),
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
        const outcomes = await play(rig, life(rig))
        assert.ok(outcomes.length > 0, 'the plugin taps no point of a run')
        for (const outcome of outcomes) {
          if (isGate(outcome.point)) assert.equal(outcome.answer, 'passed', `${outcome.point}: ${outcome.message}`)
        }
        // what a plugin is told is frozen: writing to it throws, which a gate answers as failed and an observer counts here
        assert.deepEqual([rig.bench.health.errors, rig.bench.health.lastError], [0, null])
        await rig.bench.dispose()
      },
    },
    {
      title: 'leaves nothing running when it is disposed',
      async run() {
        const before = running()
        const rig = await open()
        await play(rig, life(rig))
        assert.deepEqual(await rig.bench.dispose(), [], 'dispose threw')
        assert.equal(rig.clock.timers, 0, 'timers of its clock are left')
        assert.deepEqual(await leftRunning(before), [], 'something is left that keeps the process busy')
      },
    },
  ]
}

/** A process of its own, which may have to translate TypeScript. */
const IMPORT_TIMEOUT_MS = 60_000

function importRow(module: URL | undefined, conditions: readonly string[] | undefined): ContractRow {
  if (module === undefined) {
    return { title: 'does no work at import (not checked: give `module`)', skip: true, run() {} }
  }
  return {
    title: 'does no work at import',
    timeoutMs: IMPORT_TIMEOUT_MS,
    async run() {
      const work = await findImportWork(module, conditions)
      assert.deepEqual(work, [], `importing the module did: ${work.join(', ')}`)
    },
  }
}

/** What keeps the process busy, by kind, and how many listeners it has. */
function running(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  for (const name of process.eventNames()) counts.set(`listener of ${String(name)}`, process.listenerCount(name))
  return counts
}

const TRIES = 20

/** Kinds of which there are more than before; asked again for a while, as the test runner has work of its own going on. */
async function leftRunning(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  let left: readonly string[] = []
  for (let attempt = 0; attempt < TRIES; attempt++) {
    await drain()
    left = [...running()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
    if (left.length === 0) break
  }
  return left
}
