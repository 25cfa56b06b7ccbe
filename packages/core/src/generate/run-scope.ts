import type { RunFacts } from '../context/frame.js'
import type { ToolCallRecord } from '../errors/sluice-error.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { StopSource } from '../internal/stop-source.js'
import type { Label } from '../messages/label.js'
import type { Message } from '../messages/message.js'
import { addUsage, USAGE_NONE } from '../messages/usage.js'
import type { Usage } from '../messages/usage.js'
import { CallList } from './call-list.js'
import { joinSinks } from './join-sinks.js'
import type { EventSink } from './event-sink.js'
import type { SpentRun } from './tree-snapshot.js'
import type { Tree } from './tree.js'

/** The settings that an execution was resolved to; `RunContext` of its caller. */
export interface RunScopeOptions {
  readonly tree: Tree
  readonly facts: RunFacts
  readonly parent: RunScope | undefined
  /** The tree's stop, or one of its own that the tree's stop fires too (a nested agent's timeout). */
  readonly stops: StopSource
  /** Labels of what led here: the call that started a nested run. */
  readonly labels: readonly Label[]
  /** Points of gates that this run was started in. */
  readonly gatePoints: readonly string[] | undefined
  readonly resources: unknown
  /** The gates of the tree, and what a fork added. */
  readonly hookSet: HookSet
  /** False for runs under a user's handler or a gate, which cannot be paused through. */
  readonly pausable: boolean
  /** The run that this is a part of, whose figures it adds to. */
  readonly within?: RunScope
  /** The stream of this run alone, where it was started by `stream` inside another run. */
  readonly sink?: EventSink
}

/** One execution, or one plain call outside any run: what its calls have in common, and what they add up to. */
export class RunScope {
  readonly options: RunScopeOptions
  readonly tree: Tree
  readonly facts: RunFacts
  readonly stops: StopSource
  /** Where events of this run go besides the callback: its own stream, and those of the runs above it. */
  readonly sink: EventSink | undefined
  usage: Usage = USAGE_NONE
  /** Measures the time for a timeout of its own, where it has one. */
  timer: { readonly elapsedMs: number } | undefined
  /** The execution has landed once; a second `Land` in it is a veto. */
  landed: boolean
  #over = false
  readonly #calls: CallList
  /** The call of the run itself, for the partial of an error. */
  call:
    | {
        readonly messages: readonly Message[]
        readonly withheld: ReadonlySet<Message>
        readonly labels: readonly Label[]
        shown(): readonly Message[]
        producedBy?(message: Message): string | null | undefined
      }
    | undefined

  constructor(options: RunScopeOptions) {
    this.options = options
    this.tree = options.tree
    this.facts = options.facts
    this.stops = options.stops
    this.sink = joinSinks(options.sink, options.parent === undefined ? this.tree.options.sink : options.parent.sink)
    const id = options.facts.executionId
    const before = id === null || options.within !== undefined ? undefined : this.tree.usedBefore.get(id)
    if (before !== undefined) this.usage = before.usage
    this.#calls = new CallList(before?.inner)
    this.landed = options.within?.landed === true
  }

  /** This run has ended: a call made inside it is refused with `RUN_OVER`. */
  get over(): boolean {
    return this.#over || this.options.within?.over === true
  }

  /** Tool calls of this run, those of plain calls in its handlers and gates included. */
  get toolCalls(): readonly ToolCallRecord[] {
    return this.#calls.all
  }

  addToolCall(call: ToolCallRecord): void {
    this.#calls.add(call)
  }

  /** What a pause keeps of this run while it is open: what a replay does not come to again. */
  get spent(): SpentRun {
    const { inner } = this.#calls
    return {
      usage: this.usage,
      ...(this.timer === undefined ? {} : { elapsedMs: this.timer.elapsedMs }),
      ...(inner === undefined ? {} : { inner }),
    }
  }

  end(): void {
    this.#over = true
  }

  /** A part of this run with facts or gates of its own: one call inside it, or what precedes its record. */
  part(options: Partial<RunScopeOptions>): RunScope {
    return new RunScope({ ...this.options, ...options, within: this })
  }

  /** Adds to this run what a part of it has used; the tree has counted it already. */
  takeOver(part: RunScope): void {
    this.usage = addUsage(this.usage, part.usage)
    this.#calls.addInner(part.toolCalls)
    this.landed ||= part.landed
  }

  addUsage(usage: Usage): void {
    this.usage = addUsage(this.usage, usage)
    this.tree.addUsage(usage)
  }

  /** Throws where the tree or this run was stopped. */
  check(): void {
    this.tree.check()
    if (this.stops.stopped) throw this.stops.reason
  }
}
