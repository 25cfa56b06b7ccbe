import type { StandardSchemaV1 } from './standard-schema.js'
import type { Clock } from '../internal/clock.js'
import type { Ids } from '../internal/ids.js'
import type { JsonValue } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import type { AppendLog, Documents } from '../store/store.js'
import type { Hooks } from './hook-types.js'

/** The version of the hook contract that this core speaks. */
export const HOOK_API = 1

const INSTANCE: unique symbol = Symbol.for('sluice.plugin') as never

/** State of one run, per plugin: JSON, at most 64 KiB, kept with the answers of the gates. */
export interface RunState {
  /** The state of this plugin in the tree that is executing; `undefined` before the first update. */
  get(): JsonValue | undefined
  /** Replaces it by what `change` returns; synchronous and pure. Returns the new state. */
  update<Next extends JsonValue>(change: (current: JsonValue | undefined) => Next): Next
}

/** What a plugin gets from its runtime. */
export interface PluginHost<Options = unknown> {
  /** The validated options, frozen. */
  readonly options: Options
  /** Storage of this plugin alone. */
  readonly storage: { readonly documents: Documents; readonly log: AppendLog }
  /** The tree that is executing; `undefined` outside one. */
  readonly run: { readonly state: RunState } | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

/** What `apply` may return. */
export interface AppliedResult<Api> {
  readonly api?: Api
  /** Called when the set is replaced or the runtime closed; leaves nothing running. */
  dispose?(): void | Promise<void>
}

/** A plugin with its options, ready to be given to `createRuntime({ plugins })`. */
export interface PluginInstance<Api = unknown> {
  readonly name: string
  readonly id: string | undefined
  readonly shadow: boolean
  readonly spec: PluginSpec<never, Api>
  readonly options: unknown
  /** Carries the type of the api; never there. */
  readonly '~api'?: Api
}

/** The definition of a plugin. */
export interface PluginSpec<Schema extends StandardSchemaV1 | undefined, Api> {
  /** The package's name without its scope; appears in every error and receipt. */
  readonly name: string
  /** The version of the hook contract that the plugin was written for: 1. */
  readonly hookApi: number
  /** The plugin's own version. */
  readonly version?: string
  /** Schema of the options: any Standard Schema. Without it, options are refused. */
  readonly options?: Schema
  /** Registers all taps. Called once per runtime; no timers or network at import. */
  apply(
    hooks: Hooks,
    host: PluginHost<Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : undefined>,
  ): void | AppliedResult<Api> | Promise<void | AppliedResult<Api>>
}

type OptionsArgument<Schema extends StandardSchemaV1 | undefined> = Schema extends StandardSchemaV1
  ? undefined extends StandardSchemaV1.InferInput<Schema>
    ? [options?: StandardSchemaV1.InferInput<Schema>, instance?: { readonly id?: string }]
    : Record<never, never> extends StandardSchemaV1.InferInput<Schema>
      ? [options?: StandardSchemaV1.InferInput<Schema>, instance?: { readonly id?: string }]
      : [options: StandardSchemaV1.InferInput<Schema>, instance?: { readonly id?: string }]
  : [options?: undefined, instance?: { readonly id?: string }]

/** Makes instances of a plugin; also the handle by which `runtime.plugin` finds its api. */
export interface PluginFactory<Schema extends StandardSchemaV1 | undefined, Api> {
  (...args: OptionsArgument<Schema>): PluginInstance<Api>
  readonly meta: { readonly name: string; readonly hookApi: number; readonly version: string | null }
  readonly spec: PluginSpec<Schema, Api>
}

/**
 * Defines a plugin. The result is a factory: call it with options (and an `id` where a runtime has several instances) and
 * give the instance to `createRuntime({ plugins })`. Options are validated when the plugin is applied.
 */
export function definePlugin<Schema extends StandardSchemaV1 | undefined = undefined, Api = undefined>(
  spec: PluginSpec<Schema, Api>,
): PluginFactory<Schema, Api> {
  const frozen = Object.freeze({ ...spec })
  const factory = (options?: unknown, instance?: { readonly id?: string }): PluginInstance<Api> =>
    brand({ name: frozen.name, id: instance?.id, shadow: false, spec: frozen as never, options })
  return Object.freeze(
    Object.assign(factory, {
      meta: Object.freeze({ name: frozen.name, hookApi: frozen.hookApi, version: frozen.version ?? null }),
      spec: frozen,
    }),
  ) as unknown as PluginFactory<Schema, Api>
}

/**
 * Asks a plugin's gates and records what they would have stopped (`would_veto`) without stopping anything. It has a storage
 * namespace of its own and is shown in `explain` and at the start.
 */
export function shadow<Api>(plugin: PluginInstance<Api>): PluginInstance<Api> {
  return brand({ ...plugin, shadow: true })
}

/** True for what a plugin factory returns, also one of another copy of the package. */
export function isPluginInstance(value: unknown): value is PluginInstance {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, INSTANCE)
}

function brand<Api>(instance: PluginInstance<Api>): PluginInstance<Api> {
  Object.defineProperty(instance, INSTANCE, { value: true })
  return Object.freeze(instance)
}
