import type { AgentRegistry } from '../agents/agent-registry.js'
import type { AgentType } from '../agents/agent-type.js'
import type { EnvironmentReader } from '../context/environment.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RuntimeParts } from '../generate/runtime-parts.js'
import type { Tree } from '../generate/tree.js'
import type { PromptRegistry } from '../prompts/prompt-registry.js'
import type { Executions } from '../sessions/execution-read-model.js'
import type { Sessions } from '../sessions/session-read-model.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentPrompts } from './agent-prompts.js'
import type { HookSlot } from './hook-slot.js'

/** A factory of live resources, called once per run where the caller gave none. */
export type ResourcesFactory = () => unknown

/** What a runtime and all its forks share. */
export interface RuntimeCore {
  readonly parts: RuntimeParts
  readonly agents: AgentRegistry
  readonly prompts: PromptRegistry
  readonly sessions: Sessions
  readonly executions: Executions
  readonly types: ReadonlyMap<string, AgentType>
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly environment: EnvironmentReader
  readonly serviceUser: string | null
  readonly resources: ResourcesFactory | undefined
  readonly flight: Flight
}

/** Runs in flight on a runtime: their number is bounded, and `cancel` and `close` find them. */
export class Flight {
  readonly #bound: number
  readonly #trees = new Map<string, Tree>()
  readonly #ended = new Set<() => void>()
  readonly #gone = new Map<Tree, (() => void)[]>()
  /** Why trees were cancelled: a resume that had run nothing by then does not leave its run paused. */
  readonly cancelled = new WeakMap<Tree, string>()
  closed = false

  constructor(bound: number) {
    this.#bound = bound
  }

  get size(): number {
    return this.#trees.size
  }

  /** Takes a tree into flight. @throws RUNTIME_CLOSED, BUSY */
  add(tree: Tree): void {
    this.check()
    this.#trees.set(tree.rootExecutionId, tree)
  }

  /** @throws RUNTIME_CLOSED, BUSY */
  check(): void {
    if (this.closed)
      throw new SluiceError('RUNTIME_CLOSED', 'The runtime was closed and accepts no more runs.', {
        hint: 'Create another one with createRuntime.',
      })
    if (this.#trees.size >= this.#bound) {
      throw new SluiceError('BUSY', `${this.#trees.size} runs are in flight; at most ${this.#bound} are accepted.`, {
        hint: 'Try again when one has ended, or raise limits.runsInFlight.',
        details: { limit: 'runsInFlight', bound: this.#bound },
      })
    }
  }

  remove(tree: Tree): void {
    this.#trees.delete(tree.rootExecutionId)
    for (const wake of this.#gone.get(tree) ?? []) wake()
    this.#gone.delete(tree)
    if (this.#trees.size === 0) {
      for (const wake of this.#ended) wake()
      this.#ended.clear()
    }
  }

  /** The tree that a run belongs to, by the id of any of its runs that are open. */
  find(executionId: string): Tree | undefined {
    const tree = this.#trees.get(executionId)
    if (tree !== undefined) return tree
    for (const other of this.#trees.values()) if (other.open.has(executionId)) return other
    return undefined
  }

  /** Waits until a tree is out of flight. */
  gone(tree: Tree): Promise<void> {
    if (this.#trees.get(tree.rootExecutionId) !== tree) return Promise.resolve()
    return new Promise((resolve) => this.#gone.set(tree, [...(this.#gone.get(tree) ?? []), resolve]))
  }

  /** Ends all runs as aborted and waits for them. */
  async close(): Promise<void> {
    this.closed = true
    for (const tree of this.#trees.values()) abortTree(tree, 'The runtime was closed while the run was in flight.')
    if (this.#trees.size > 0) await new Promise<void>((resolve) => this.#ended.add(resolve))
  }
}

/** Ends a tree as aborted. */
export function abortTree(tree: Tree, message: string, cause?: unknown): void {
  const error = new SluiceError('RUN_ABORTED', message, {
    details: { rootExecutionId: tree.rootExecutionId },
    ...(cause === undefined ? {} : { cause }),
  })
  tree.end({ error, kind: 'aborted', status: 'aborted' })
}

/** One face of the core: a runtime, or a fork of it with a set of plugins of its own. */
export interface RuntimeFace {
  readonly core: RuntimeCore
  readonly slot: HookSlot
  readonly prompts: AgentPrompts
}
