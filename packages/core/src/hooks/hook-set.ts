import type { AnswerOrigin } from '../errors/answers.js'
import type { GatePoint, HookPoint, ObserverPoint } from './hook-points.js'
import type { PluginStamp } from '../store/records.js'
import type { PluginInstance } from './plugin.js'
import type { GateReceipt } from './receipt.js'

/** One tap as it was registered. `kind` says how it answers. */
export interface CompiledTap {
  readonly plugin: string
  readonly name: string
  readonly point: HookPoint | 'authorize'
  /** Plugin and point, as errors name them. */
  readonly origin: AnswerOrigin
  readonly stage: number
  readonly kind: 'tap' | 'tapPromise' | 'tapAsync'
  /** Deadline in milliseconds. */
  readonly timeoutMs: number
  /** Recorded but never followed. */
  readonly shadow: boolean
  /** The row of a receipt where it passed at once: made once, and the same object in every asking. */
  readonly passed: GateReceipt | undefined
  // the contexts differ by point; the registration surface types them
  readonly fn: (...args: never[]) => unknown
}

/** A plugin that has been applied. */
export interface AppliedPlugin {
  /** Name, with `#id` where it has one; `shadow:` before a shadowed one. Appears in receipts and errors. */
  readonly key: string
  readonly name: string
  readonly id: string | undefined
  readonly version: string | null
  readonly optionsDigest: string
  readonly shadow: boolean
  readonly instance: PluginInstance
  readonly api: unknown
  readonly dispose: (() => unknown) | undefined
  readonly taps: readonly CompiledTap[]
}

/** Where a set came from, for the start line, `explain` and each execution. */
export interface HooksOrigin {
  readonly kind: 'explicit' | 'convention' | 'override' | 'fork'
  /** The hook file and the digest of its text, for `convention`. */
  readonly path: string | null
  readonly digest: string | null
}

/** The immutable set of plugins that a run starts with: taps by point, in the order in which they are asked. */
export interface HookSet {
  readonly plugins: readonly AppliedPlugin[]
  readonly origin: HooksOrigin
  /** Names, versions and option digests of the plugins that have gates, as each execution stores them. */
  readonly stamps: readonly PluginStamp[]
  readonly gates: Readonly<Record<GatePoint, readonly CompiledTap[]>>
  readonly observers: Readonly<Record<ObserverPoint, readonly CompiledTap[]>>
  readonly prompt: readonly CompiledTap[]
  /** Disposes all plugins, last one first; errors are collected, not thrown. */
  dispose(): Promise<readonly unknown[]>
}

/** What an execution stores of the gate plugins under which it started. A shadowed plugin guards nothing. */
export function stampsOf(plugins: readonly AppliedPlugin[], gates: HookSet['gates']): readonly PluginStamp[] {
  return Object.freeze(
    plugins
      .filter((plugin) => !plugin.shadow && plugin.taps.some((tap) => Object.hasOwn(gates, tap.point)))
      .map(({ key, version, optionsDigest }) => Object.freeze({ name: key, version, optionsDigest })),
  )
}

/** The order of asking: by stage, then by order of registration, which the list already has. */
export function byStage(taps: readonly CompiledTap[]): readonly CompiledTap[] {
  return Object.freeze([...taps].sort((left, right) => left.stage - right.stage))
}
