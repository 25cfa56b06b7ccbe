import { journalMismatch } from '../journal-mismatch.js'
import type { SluiceError } from '../../errors/sluice-error.js'
import { delay } from '../../internal/clock.js'
import type { Clock } from '../../internal/clock.js'
import type { Ids } from '../../internal/ids.js'
import { isThenable } from '../../internal/json.js'
import type { JsonValue, MaybePromise } from '../../internal/json.js'
import { decodeError, encodeError, encodeValue } from '../codec.js'
import type { Recorded, Steps, StoredEntry } from '../engine.js'
import { Interrupt } from '../interrupt.js'

/** An entry in memory: results and errors stay as they are until a pause asks for JSON. */
interface LiveEntry {
  readonly name: string
  readonly kind: StoredEntry['kind']
  readonly value?: unknown
  readonly error?: { readonly thrown: unknown }
  readonly entries?: InlineSteps
}

export interface InlineParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly executionId: string
}

/** The steps of the inline engine: they call through, and keep the journal in memory. */
export class InlineSteps implements Steps {
  readonly path: string
  readonly #parts: InlineParts
  readonly #entries: LiveEntry[] = []
  #closed: Map<string, number> | undefined
  #cursor = 0
  /** Places beyond the cursor that have been asked for already. */
  #used: Set<number> | undefined

  constructor(parts: InlineParts, path: string, stored: readonly StoredEntry[] = []) {
    this.#parts = parts
    this.path = path
    for (const entry of stored) {
      if (entry.kind === 'closed') {
        this.#closed ??= new Map()
        this.#closed.set(entry.name, Number(entry.value))
        continue
      }
      this.#entries.push({
        name: entry.name,
        kind: entry.kind,
        ...(entry.value === undefined ? {} : { value: entry.value }),
        ...(entry.error === undefined ? {} : { error: { thrown: decodeError(entry.error) } }),
        ...(entry.entries === undefined
          ? {}
          : { entries: new InlineSteps(parts, this.#below(entry.name), entry.entries) }),
      })
    }
  }

  recorded(name: string): Recorded {
    for (let index = this.#cursor; index < this.#entries.length; index++) {
      const entry = this.#entries[index] as LiveEntry
      if (entry.name !== name || this.#used?.has(index) === true) continue
      if (entry.kind === 'branch') return entry.entries?.recorded('call') ?? 'nothing'
      if (entry.kind !== 'begin') return 'done'
      const done = this.#entries.some((later, place) => place > index && later.kind === 'step' && later.name === name)
      return done ? 'done' : 'begun'
    }
    return 'nothing'
  }

  step<Value>(name: string, fn: () => MaybePromise<Value>): Promise<Value> {
    let returned: MaybePromise<Value>
    let entry: LiveEntry | undefined
    try {
      entry = this.#next(name, 'step')
    } catch (mismatch) {
      return Promise.reject(mismatch as Error)
    }
    if (entry !== undefined)
      return entry.error === undefined
        ? Promise.resolve(entry.value as Value)
        : Promise.reject(entry.error.thrown as Error)
    try {
      returned = fn()
    } catch (thrown) {
      return Promise.reject(this.#failed(name, thrown) as Error)
    }
    if (!isThenable(returned)) return Promise.resolve(this.#done(name, returned))
    return Promise.resolve(returned).then(
      (value) => this.#done(name, value),
      (thrown: unknown) => {
        throw this.#failed(name, thrown)
      },
    )
  }

  #done<Value>(name: string, value: Value): Value {
    this.#push({ name, kind: 'step', value })
    return value
  }

  #failed(name: string, thrown: unknown): unknown {
    if (!Interrupt.isInstance(thrown)) this.#push({ name, kind: 'step', error: { thrown } })
    return thrown
  }

  begin<Value extends JsonValue>(name: string, value: Value): Value {
    const entry = this.#next(name, 'begin')
    if (entry !== undefined) return entry.value as Value
    this.#push({ name, kind: 'begin', value })
    return value
  }

  attemptsBefore(name: string): number {
    return (this.#closed?.get(name) ?? 0) + (this.recorded(name) === 'begun' ? 1 : 0)
  }

  close(name: string): void {
    this.#closed ??= new Map()
    this.#closed.set(name, (this.#closed.get(name) ?? 0) + 1)
  }

  async branch<Value>(name: string, fn: (steps: Steps) => Promise<Value>): Promise<Value> {
    const entry = this.#next(name, 'branch')
    if (entry?.entries !== undefined) return fn(entry.entries)
    const steps = new InlineSteps(this.#parts, this.#below(name))
    this.#push({ name, kind: 'branch', entries: steps })
    return fn(steps)
  }

  async replay<Value>(name: string): Promise<Value> {
    const branch = this.#next(name, 'branch')?.entries
    const result = branch === undefined ? undefined : branch.#result('call')
    if (result === undefined) throw this.#mismatch(`the result of "${this.#below(name)}"`, 'nothing')
    if (result.error !== undefined) throw result.error.thrown
    return result.value as Value
  }

  #result(name: string): LiveEntry | undefined {
    return this.#entries.find((entry) => entry.kind === 'step' && entry.name === name)
  }

  async waitFor(signal: string): Promise<JsonValue | undefined> {
    const entry = this.#next(signal, 'wait')
    if (entry === undefined) this.#push({ name: signal, kind: 'wait' })
    return entry?.value as JsonValue | undefined
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const name = 'sleep'
    if (this.#next(name, 'sleep') !== undefined) return
    await delay(this.#parts.clock, ms, signal)
    this.#push({ name, kind: 'sleep' })
  }

  now(): number {
    return this.#once('now', () => this.#parts.clock.now())
  }

  id(): string {
    return this.#once('id', () => this.#parts.ids.id())
  }

  /** The journal from here down, as JSON. */
  snapshot(): StoredEntry[] {
    const stored: StoredEntry[] = this.#entries.map((entry) => {
      const value = encodeValue(entry.name, entry.value)
      return {
        name: entry.name,
        kind: entry.kind,
        ...(value === undefined ? {} : { value }),
        ...(entry.error === undefined ? {} : { error: encodeError(entry.error.thrown) }),
        ...(entry.entries === undefined ? {} : { entries: entry.entries.snapshot() }),
      }
    })
    for (const [name, count] of this.#closed ?? []) stored.push({ name, kind: 'closed', value: count })
    return stored
  }

  #once<Value>(kind: 'now' | 'id', make: () => Value): Value {
    const entry = this.#next(kind, kind)
    if (entry !== undefined) return entry.value as Value
    const value = make()
    this.#push({ name: kind, kind, value })
    return value
  }

  /**
   * The entry of the journal at this place, if the journal reaches so far; it must be the one that the code asks for. Branches
   * may have begun side by side: they are found by their name.
   */
  #next(name: string, kind: StoredEntry['kind']): LiveEntry | undefined {
    const place = kind === 'branch' ? this.#branchPlace(name) : this.#cursor
    const entry = this.#entries[place]
    if (entry === undefined) return undefined
    if (entry.name !== name || entry.kind !== kind) {
      // a new branch may begin beside branches of the journal that have not been asked for yet
      if (kind === 'branch' && entry.kind === 'branch') return undefined
      throw this.#mismatch(`${kind} "${this.#below(name)}"`, `${entry.kind} "${this.#below(entry.name)}"`)
    }
    this.#use(place)
    return entry
  }

  #branchPlace(name: string): number {
    for (let place = this.#cursor; place < this.#entries.length; place++) {
      const entry = this.#entries[place] as LiveEntry
      if (entry.kind === 'branch' && entry.name === name && this.#used?.has(place) !== true) return place
    }
    return this.#cursor
  }

  /** The cursor stands at the first entry that has not been asked for. */
  #use(place: number): void {
    if (place !== this.#cursor) {
      this.#used ??= new Set()
      this.#used.add(place)
      return
    }
    this.#cursor++
    while (this.#used?.delete(this.#cursor) === true) this.#cursor++
  }

  #mismatch(asked: string, recorded: string): SluiceError {
    return journalMismatch(
      `The journal of run ${this.#parts.executionId} holds ${recorded} where the code asks for ${asked}. Nothing was run.`,
      {
        hint: 'Resume with the agents, tools and settings of the time of the pause, or cancel the run.',
        details: { executionId: this.#parts.executionId, recorded, asked },
      },
    )
  }

  #push(entry: LiveEntry): void {
    this.#entries.push(entry)
    this.#use(this.#entries.length - 1)
  }

  #below(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`
  }
}
