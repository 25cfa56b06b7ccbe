import type { PluginInstance } from '@sluice/core'
import { describe, it } from 'vitest'
import type { HookPluginOptions } from './plugin-rig.js'
import { hookPluginRows } from './plugin-rows.js'

/**
 * Holds a plugin to the ground rules of all plugins: no work at import, bad options refused with a code, nothing changed of
 * what it is told, no pass when a gate beside it or its storage fails, one effect when it is asked twice, nothing shared
 * between two instances, no memory that a restart would lose, nothing left running.
 *
 * @example
 * describeHookPlugin('desk-rules', () => deskRules(), { module: new URL('./desk-rules.ts', import.meta.url) })
 */
export function describeHookPlugin(name: string, make: () => PluginInstance, options: HookPluginOptions = {}): void {
  describe(`plugin contract: ${name}`, () => {
    for (const row of hookPluginRows(make, options)) {
      // a row whose option its author left out (`stopping`, `module`) is shown as skipped, so that nobody takes it for passed
      if (row.skip === true) it.skip(row.title)
      else it(row.title, () => row.run(), row.timeoutMs)
    }
  })
}
