import { SluiceError } from '../errors/sluice-error.js'
import { HOOK_API, isPluginInstance } from './plugin.js'
import type { PluginInstance } from './plugin.js'

const NAME = /^[a-z0-9@][a-z0-9@/._-]{0,127}$/
const ID = /^[A-Za-z0-9._-]{1,64}$/

/** What people may write in a list of plugins: falsy entries are ignored, nested lists flattened. */
export type PluginList = readonly (PluginInstance | PluginList | false | null | undefined | 0 | '')[]

/** The entries of a list of plugins. @throws HOOK_REGISTRATION where it is none */
export function* flatten(list: unknown): Generator<unknown> {
  if (!Array.isArray(list)) {
    throw new SluiceError('HOOK_REGISTRATION', 'The plugins are not a list.', {
      hint: 'Give an array: plugins: [budget({...}), audit()].',
    })
  }
  for (const entry of list as unknown[]) {
    if (Array.isArray(entry)) yield* flatten(entry)
    else if (entry !== false && entry !== null && entry !== undefined && entry !== 0 && entry !== '') yield entry
  }
}

/** @throws HOOK_REGISTRATION for anything but a plugin that this core can apply */
export function checkInstance(entry: unknown): PluginInstance {
  if (typeof entry === 'function' && Object.hasOwn(entry, 'meta')) {
    throw new SluiceError(
      'HOOK_REGISTRATION',
      `The plugin factory "${(entry as unknown as { meta: { name?: string } }).meta.name ?? entry.name}" stands in the list itself.`,
      {
        hint: 'Call it: plugins: [plugin()].',
      },
    )
  }
  if (!isPluginInstance(entry)) {
    throw new SluiceError('HOOK_REGISTRATION', `An entry of the plugins is ${kindOf(entry)}, not a plugin.`, {
      hint: 'Make plugins with definePlugin; a promise of a plugin has to be awaited first.',
    })
  }
  const { spec } = entry
  if (typeof spec.name !== 'string' || !NAME.test(spec.name)) {
    throw new SluiceError('HOOK_REGISTRATION', `A plugin has the name ${JSON.stringify(spec.name) ?? 'undefined'}.`, {
      hint: 'A name has 1 to 128 lower-case letters, digits, ".", "_", "-", "/" or "@".',
    })
  }
  if (entry.id !== undefined && !(typeof entry.id === 'string' && ID.test(entry.id))) {
    throw new SluiceError('HOOK_REGISTRATION', `Plugin "${spec.name}" has the id ${JSON.stringify(entry.id)}.`, {
      hint: 'An id has 1 to 64 letters, digits, ".", "_" or "-".',
    })
  }
  if (spec.hookApi !== HOOK_API) {
    throw foreignHookApi(spec)
  }
  if (typeof spec.apply !== 'function')
    throw new SluiceError('HOOK_REGISTRATION', `Plugin "${spec.name}" has no apply function.`, {
      hint: 'See definePlugin.',
    })
  return entry
}

function foreignHookApi(spec: PluginInstance['spec']): SluiceError {
  const plugin = `Plugin "${spec.name}"${spec.version === undefined ? '' : ` ${spec.version}`}`
  if (spec.hookApi === undefined) {
    return new SluiceError('HOOK_REGISTRATION', `${plugin} does not say which hookApi it is written for.`, {
      hint: `Add hookApi: ${HOOK_API} to definePlugin, the one of this core.`,
    })
  }
  return new SluiceError(
    'HOOK_REGISTRATION',
    `${plugin} speaks hookApi ${String(spec.hookApi)}; this core speaks ${HOOK_API}.`,
    {
      hint: `Install a version of "${spec.name}" for hookApi ${HOOK_API}, or the @sluice/core that it was written for.`,
    },
  )
}

/** A value by its kind, for an error: `null`, `a string`, `an object`, `a promise`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (value instanceof Promise) return 'a promise'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
