import { SluiceError } from '../errors/sluice-error.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { digest } from '../internal/digest.js'
import { isPlainObject } from '../internal/json.js'
import { checkInstance, flatten, kindOf } from './check-plugins.js'
import type { PluginList } from './check-plugins.js'
import { HOOK_POINTS } from './hook-points.js'
import type { GatePoint, ObserverPoint } from './hook-points.js'
import { byStage, stampsOf } from './hook-set.js'
import type { AppliedPlugin, CompiledTap, HookSet, HooksOrigin } from './hook-set.js'
import { describeError } from './observe.js'
import { createPluginHost } from './plugin-host.js'
import type { HostParts } from './plugin-host.js'
import type { PluginInstance } from './plugin.js'
import type { StandardSchemaV1 } from './standard-schema.js'
import { createTapSurface } from './tap-surface.js'

export interface ApplyParts extends HostParts {
  readonly hookTimeoutMs: number
  readonly observerTimeoutMs: number
}

/**
 * Applies a list of plugins and builds the immutable set that runs start with. All faults of the list are reported at once
 * in one `HOOK_REGISTRATION` error (its `cause` where there is only one); what had been applied by then is disposed.
 */
export async function applyPlugins(list: PluginList, origin: HooksOrigin, parts: ApplyParts): Promise<HookSet> {
  const faults: unknown[] = []
  const applied: AppliedPlugin[] = []
  const keys = new Set<string>()
  for (const entry of flatten(list)) {
    try {
      const instance = checkInstance(entry)
      const key = keyOf(instance)
      if (keys.has(key)) {
        throw new SluiceError('DUPLICATE_NAME', `Plugin "${key}" is in the list twice.`, {
          hint: 'Give each instance an id: plugin(options, { id }).',
        })
      }
      keys.add(key)
      applied.push(await applyOne(instance, key, parts))
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) {
    await disposeAll(applied)
    throw faultOf(faults)
  }
  return buildSet(applied, origin)
}

function buildSet(plugins: readonly AppliedPlugin[], origin: HooksOrigin): HookSet {
  const at = (point: string): readonly CompiledTap[] =>
    byStage(plugins.flatMap((plugin) => plugin.taps.filter((tap) => tap.point === point)))
  const gates: Partial<Record<GatePoint, readonly CompiledTap[]>> = {}
  const observers: Partial<Record<ObserverPoint, readonly CompiledTap[]>> = {}
  for (const [point, row] of Object.entries(HOOK_POINTS)) {
    if (row.kind === 'gate') gates[point as GatePoint] = at(point)
    else if (row.kind !== 'prompt chain') observers[point as ObserverPoint] = at(point)
  }
  let disposed: Promise<readonly unknown[]> | undefined
  return Object.freeze({
    plugins: Object.freeze([...plugins]),
    origin: Object.freeze(origin),
    stamps: stampsOf(plugins, gates as HookSet['gates']),
    gates: Object.freeze(gates) as HookSet['gates'],
    observers: Object.freeze(observers) as HookSet['observers'],
    prompt: at('augmentSystemPrompt'),
    dispose: () => (disposed ??= disposeAll(plugins)),
  })
}

function keyOf(instance: PluginInstance): string {
  const key = instance.id === undefined ? instance.name : `${instance.name}#${instance.id}`
  return instance.shadow ? `shadow:${key}` : key
}

async function applyOne(instance: PluginInstance, key: string, parts: ApplyParts): Promise<AppliedPlugin> {
  const options = await readOptions(instance, key)
  const surface = createTapSurface(key)
  let result: unknown
  try {
    result = await instance.spec.apply(surface.hooks, createPluginHost(parts, key, options) as never)
  } catch (error) {
    if (SluiceError.isInstance(error)) throw error
    throw new SluiceError('HOOK_REGISTRATION', `Plugin "${key}" failed in apply: ${describeError(error)}`, {
      cause: error,
      hint: missesPoint(error)
        ? `It may have tapped a point that there is not; there are ${Object.keys(HOOK_POINTS).join(', ')}.`
        : 'Mend the plugin, or take it out of the list.',
    })
  } finally {
    surface.seal()
  }
  const outcome = readResult(result, key)
  try {
    const taps = surface.taps({ key, shadow: instance.shadow }, parts)
    if (taps.length === 0) {
      throw new SluiceError('HOOK_REGISTRATION', `Plugin "${key}" taps no hook point, so it would guard nothing.`, {
        hint: 'Tap at least one point in apply, before its promise settles.',
      })
    }
    return Object.freeze({
      key,
      name: instance.name,
      id: instance.id,
      version: instance.spec.version ?? null,
      optionsDigest: digest(describeOptions(options)),
      shadow: instance.shadow,
      instance,
      api: outcome.api,
      dispose: outcome.dispose,
      taps,
    })
  } catch (error) {
    await Promise.resolve(outcome.dispose?.()).catch(() => undefined)
    throw error
  }
}

/** True for what a property of a hook point that does not exist throws. */
function missesPoint(error: unknown): boolean {
  return error instanceof TypeError && /undefined \(reading 'tap(Promise|Async)?'\)/.test(error.message)
}

async function readOptions(instance: PluginInstance, key: string): Promise<unknown> {
  const schema = instance.spec.options as StandardSchemaV1 | undefined
  if (schema === undefined) {
    if (instance.options === undefined) return undefined
    throw new SluiceError('INVALID_CONFIG', `Plugin "${key}" takes no options.`, {
      hint: 'Drop them, or declare an options schema in definePlugin.',
    })
  }
  const input = instance.options === undefined ? {} : copyPlain(instance.options)
  let result = await schema['~standard'].validate(input)
  if (result.issues !== undefined && instance.options === undefined) {
    const bare = await schema['~standard'].validate(undefined)
    if (bare.issues === undefined) result = bare
  }
  if (result.issues !== undefined) {
    const lines = result.issues.map((issue) => `  ${pathOf(issue)}: ${issue.message}`)
    throw new SluiceError('INVALID_CONFIG', `The options of plugin "${key}" are not valid:\n${lines.join('\n')}`, {
      hint: 'Mend each of them.',
      details: { plugin: key, issues: result.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })) },
    })
  }
  return deepFreeze(result.value)
}

/** A copy of plain data, so that freezing what came out of a schema never freezes what the caller gave. */
function copyPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyPlain)
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value))
    Object.defineProperty(copy, key, {
      value: copyPlain(value[key]),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return copy
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  return path.length === 0 ? '(options)' : path.join('.')
}

function readResult(result: unknown, key: string): { api: unknown; dispose: (() => unknown) | undefined } {
  if (result === undefined) return { api: undefined, dispose: undefined }
  if (result === null || typeof result !== 'object') {
    throw new SluiceError('HOOK_REGISTRATION', `apply of plugin "${key}" returned ${kindOf(result)}.`, {
      hint: 'It returns nothing, or { api, dispose }.',
    })
  }
  const { api, dispose } = result as { api?: unknown; dispose?: unknown }
  if (dispose !== undefined && typeof dispose !== 'function') {
    throw new SluiceError('HOOK_REGISTRATION', `dispose of plugin "${key}" is not a function.`, {
      hint: 'Return { dispose() {} }.',
    })
  }
  return { api, dispose: dispose === undefined ? undefined : () => (dispose as () => unknown).call(result) }
}

/** Options as JSON for their digest: functions and other live values by their kind and name. */
function describeOptions(options: unknown): string {
  const text = JSON.stringify(options, (_key, value: unknown) => {
    if (typeof value === 'function') return `[function ${value.name}]`
    if (typeof value === 'bigint') return `${value}n`
    if (value instanceof Map || value instanceof Set) return [...value]
    if (isPlainObject(value))
      return Object.fromEntries(
        Object.entries(value).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
      )
    return value
  })
  return text ?? 'undefined'
}

async function disposeAll(plugins: readonly AppliedPlugin[]): Promise<readonly unknown[]> {
  const errors: unknown[] = []
  for (const plugin of [...plugins].reverse()) {
    try {
      await plugin.dispose?.()
    } catch (error) {
      errors.push(error)
    }
  }
  return errors
}

function faultOf(faults: readonly unknown[]): unknown {
  if (faults.length === 1) return faults[0]
  const lines = faults.map((fault) => `  - ${describeError(fault).replaceAll('\n', '\n    ')}`)
  return new SluiceError('HOOK_REGISTRATION', `${faults.length} faults in the plugins:\n${lines.join('\n')}`, {
    hint: 'Mend all of them.',
    cause: new AggregateError(faults),
  })
}
