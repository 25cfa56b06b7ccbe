import type { PluginInstance } from '@sluice/core'
import { checkNames } from '../check-names.js'
import type { ContractRow } from './contract-row.js'
import { pluginFailureRows } from './plugin-failure-rows.js'
import { pluginMemoryRows } from './plugin-memory-rows.js'
import type { HookPluginOptions } from './plugin-rig.js'
import { createPluginRig } from './plugin-rig.js'
import { pluginShapeRows } from './plugin-shape-rows.js'

const OPTIONS = ['module', 'conditions', 'badOptions', 'passing', 'stopping', 'prepare']

/** The ground rules that every plugin keeps. `describeHookPlugin` runs them under vitest. */
export function hookPluginRows(make: () => PluginInstance, options: HookPluginOptions = {}): readonly ContractRow[] {
  checkNames('The options of describeHookPlugin', options, OPTIONS)
  const rig = createPluginRig(make, options)
  return [...pluginShapeRows(rig), ...pluginFailureRows(rig), ...pluginMemoryRows(rig)]
}
