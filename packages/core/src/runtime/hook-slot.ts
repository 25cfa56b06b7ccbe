import { SluiceError } from '../errors/sluice-error.js'
import { applyPlugins } from '../hooks/apply-plugins.js'
import type { ApplyParts } from '../hooks/apply-plugins.js'
import type { PluginList } from '../hooks/check-plugins.js'
import type { HookSet, HooksOrigin } from '../hooks/hook-set.js'
import { loadConvention } from '../hooks/load-convention.js'
import { mergeSets } from '../hooks/merge-sets.js'
import { describeError } from '../hooks/observe.js'

interface Held {
  readonly set: HookSet
  uses: number
  /** Replaced: disposed when the last run that started with it has ended. */
  retired: boolean
  /** Disposed, and all errors of that noted. */
  readonly gone: Promise<void>
  end(): void
}

/** A set in use; `release` gives it back. */
export interface AcquiredSet {
  readonly set: HookSet
  release(): void
}

/** Which slots a set has its plugins from: one slot, or, in a call on a fork inside a run, several. Shared by a runtime and its forks. */
type Family = WeakMap<HookSet, ReadonlySet<HookSlot>>

/**
 * The set of plugins of one runtime (or fork): the one it was created with, or an override. A set that cannot be built leaves
 * the slot shut; a run keeps the set that it started with.
 */
export class HookSlot {
  readonly #parts: ApplyParts
  readonly #plugins: PluginList | undefined
  readonly #root: string | undefined
  readonly #kind: HooksOrigin['kind']
  readonly #family: Family
  /** Sets that are not disposed. */
  readonly #alive = new Set<Held>()
  #base: Held | undefined
  #current: Held | undefined
  #fault: unknown
  #closed = false
  /** Changes are made one after another. */
  #changing: Promise<void> = Promise.resolve()

  constructor(
    parts: ApplyParts,
    plugins: PluginList | undefined,
    root: string | undefined,
    kind: HooksOrigin['kind'],
    family: Family = new WeakMap(),
  ) {
    this.#family = family
    this.#parts = parts
    this.#plugins = plugins
    this.#root = root
    this.#kind = kind
  }

  /** The slot of a fork, whose calls inside a run add to the gates of that run. */
  fork(plugins: PluginList): HookSlot {
    return new HookSlot(this.#parts, plugins, undefined, 'fork', this.#family)
  }

  /** Builds the first set; rejects with the fault itself. */
  async open(): Promise<void> {
    this.#base = await this.#build()
    this.#current = this.#base
  }

  async #build(): Promise<Held> {
    const { plugins, origin } =
      this.#plugins === undefined
        ? await loadConvention(this.#root)
        : { plugins: this.#plugins, origin: { kind: this.#kind, path: null, digest: null } }
    return this.#apply(plugins, origin)
  }

  async #apply(plugins: PluginList, origin: HooksOrigin): Promise<Held> {
    const set = await applyPlugins(plugins, origin, this.#parts)
    this.#family.set(set, new Set([this]))
    let end: () => void = () => undefined
    const gone = new Promise<void>((resolve) => {
      end = resolve
    })
    const held: Held = { set, uses: 0, retired: false, gone, end }
    this.#alive.add(held)
    return held
  }

  /** Replaces the set; `null` goes back to what the runtime was created with. A fault leaves the slot shut. */
  replace(plugins: PluginList | null): Promise<void> {
    const change = this.#changing.then(() => {
      if (this.#closed) throw closed()
      return this.#replace(plugins)
    })
    this.#changing = change.catch(() => undefined)
    return change
  }

  async #replace(plugins: PluginList | null): Promise<void> {
    const before = this.#current
    this.#current = undefined
    this.#fault = new SluiceError('HOOKS_BROKEN', 'The plugins are being replaced.')
    try {
      this.#current =
        plugins === null
          ? await this.#backToBase()
          : await this.#apply(plugins, { kind: 'override', path: null, digest: null })
      this.#fault = undefined
    } catch (fault) {
      this.#fault = fault
      throw fault
    } finally {
      if (before !== undefined && before !== this.#base && before !== this.#current) this.#retire(before)
    }
  }

  /** A hook file is read again, so that one which has changed since is not missed (H-W6); a given list stands as it was applied. */
  async #backToBase(): Promise<Held> {
    if (this.#base !== undefined && this.#plugins !== undefined) return this.#base
    const fresh = await this.#build()
    if (this.#base !== undefined) this.#retire(this.#base)
    this.#base = fresh
    return fresh
  }

  /** @throws RUNTIME_CLOSED */
  check(): void {
    if (this.#closed) throw closed()
  }

  /** The set for a run that starts now; `release` gives it back at the end of that run. */
  acquire(): AcquiredSet {
    if (this.#closed) throw closed()
    const held = this.#current
    if (held === undefined) {
      throw new SluiceError(
        'HOOKS_BROKEN',
        `The runtime accepts no runs: its plugins could not be set up. ${describeError(this.#fault)}`,
        {
          cause: this.#fault,
          hint: 'Mend the plugin and call setHooks again, or setHooks(null) to go back.',
        },
      )
    }
    held.uses += 1
    let released = false
    return {
      set: held.set,
      release: () => {
        if (released) return
        released = true
        held.uses -= 1
        if (held.retired && held.uses === 0) void this.#dispose(held)
      },
    }
  }

  /**
   * The set of a call inside a run: a run keeps the set that it started with, whatever has become of the slot since. Only
   * another slot, a fork, adds its own.
   */
  acquireInside(outer: HookSet): AcquiredSet {
    const inside = this.#family.get(outer)
    if (this.gave(outer)) return { set: outer, release: () => undefined }
    const { set: added, release } = this.acquire()
    const set = mergeSets(outer, added)
    if (set !== outer) this.#family.set(set, new Set([...(inside ?? []), this]))
    return { set, release }
  }

  /** True of a set that has its plugins from here, alone or with those of others. */
  gave(set: HookSet): boolean {
    return this.#family.get(set)?.has(this) === true
  }

  /** The set in force, or the fault that keeps the slot shut. */
  get state(): { readonly set: HookSet | undefined; readonly fault: unknown } {
    return { set: this.#current?.set, fault: this.#fault }
  }

  /** Takes no more runs; all plugins are disposed when it returns, each set after the last run that started with it. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#changing
    this.#current = undefined
    this.#fault = closed()
    const alive = [...this.#alive]
    for (const held of alive) this.#retire(held)
    await Promise.all(alive.map((held) => held.gone))
  }

  #retire(held: Held): void {
    if (held.retired) return
    held.retired = true
    if (held.uses === 0) void this.#dispose(held)
  }

  async #dispose(held: Held): Promise<void> {
    try {
      for (const error of await held.set.dispose()) this.#note(error)
    } catch (error) {
      this.#note(error)
    }
    this.#alive.delete(held)
    held.end()
  }

  #note(error: unknown): void {
    this.#parts.logger.warn({ error: describeError(error) }, 'a plugin failed while it was disposed')
  }
}

function closed(): SluiceError {
  return new SluiceError('RUNTIME_CLOSED', 'The runtime was closed and accepts no more calls.', {
    hint: 'Create another one with createRuntime.',
  })
}
