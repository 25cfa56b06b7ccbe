import type { AgentRegistry } from '../agents/agent-registry.js'
import type { ResolvedCaller } from '../context/caller.js'
import type { EventCallback } from '../events/event-hub.js'
import type { PluginList } from '../hooks/check-plugins.js'
import type { ObserverHealth } from '../hooks/observe.js'
import type { JsonValue } from '../internal/json.js'
import type { PromptRegistry } from '../prompts/prompt-registry.js'
import type { Executions } from '../sessions/execution-read-model.js'
import type { Scope } from '../sessions/scope.js'
import type { Sessions } from '../sessions/session-read-model.js'
import type { SchemaOutput, SchemaSource } from '../tools/schema.js'
import type { Caller } from '../context/caller.js'
import type { DecideOptions } from './decide.js'
import type { ExecuteOptions, OutputOfCall } from './execute-options.js'
import type { Explanation } from './explain.js'
import type { ExecuteProfileOptions, GenerateOptions } from './plain-options.js'
import type { ResumeOptions } from './resume.js'
import type { Generated, Run } from './run-result.js'
import type { RunStream } from './run-stream.js'

/** What text of a stream is shown before its checks: deltas at once, or a reply's text only after its gates. */
export type Show = 'live' | 'checked'

/** `runtime.events`: the one callback of the runtime. */
export interface Events {
  /** Registers a callback in place of the one before; `null` clears. @throws INVALID_CONFIG for anything else */
  set(callback: EventCallback | null): void
  clear(): void
  /** The current registration. */
  readonly callback: EventCallback | null
  /** When true, the callback's own error ends the call. @default false; reset by `runtime.reset()` */
  fatal: boolean
}

/** How a runtime is doing. */
export interface Health {
  readonly runsInFlight: number
  readonly closed: boolean
  /** Errors of observers and callbacks that were swallowed. */
  readonly observers: Readonly<ObserverHealth>
  readonly store: string
  readonly engine: string
  /** `ok`, or the fault that keeps the runtime shut. */
  readonly hooks: {
    readonly status: 'ok' | 'broken'
    readonly origin: string | null
    readonly plugins: readonly string[]
    readonly fault: string | null
  }
}

type TypedOutput<Schema> = [Schema] extends [SchemaSource] ? SchemaOutput<Schema> : JsonValue | undefined

/** A runtime: agents under gates. Made by `createRuntime`, ended by `close`. */
export interface Runtime {
  /**
   * Runs an agent. Resolves with a completed or a paused run; a stop (veto, failed gate, tree limit, abort, timeout) and every
   * other failure rejects, with `error.partial` telling what the run had. Inside a run, the call is nested below it.
   *
   * @throws NOT_FOUND, INVALID_CONFIG, RUN_CONTEXT_CONFLICT, SESSION_FORBIDDEN, SESSION_BUSY, BUSY ... before anything is
   * written; a `Veto` or HOOK_FAILED of a gate; ProviderError; TOOL_FAILED; MAX_TOOL_CALLS; OUTPUT_INVALID; TREE_LIMIT;
   * RUN_ABORTED; RUN_TIMEOUT
   */
  execute<Input = unknown, Output = JsonValue | undefined, Schema extends SchemaSource | undefined = undefined>(
    options: ExecuteOptions<Input, Output, Schema>,
  ): Promise<Run<OutputOfCall<Output, Schema>>>
  /** As `execute`, with the events as they happen. Default of `show`: `checked` where a plugin taps `inspectReply`, else `live`. */
  stream<Input = unknown, Output = JsonValue | undefined, Schema extends SchemaSource | undefined = undefined>(
    options: ExecuteOptions<Input, Output, Schema> & { readonly show?: Show },
  ): RunStream<OutputOfCall<Output, Schema>>
  /** Records a human's answer to a pending effect, once; runs nothing. @throws NOT_FOUND, NOT_PAUSED, ALREADY_DECIDED */
  decide(executionId: string, options: DecideOptions): Promise<void>
  /** Carries a paused run on. @throws NOT_FOUND, NOT_PAUSED, HOOKS_CHANGED, JOURNAL_MISMATCH, and what `execute` throws */
  resume(executionId: string, options: ResumeOptions): Promise<Run>
  /** One call of the model and tool loop, outside any agent; inside a run it belongs to that run. */
  generateText<Schema extends SchemaSource | undefined = undefined>(
    options: GenerateOptions<Schema>,
  ): Promise<Generated<TypedOutput<Schema>>>
  /** One call with the prompts, model and settings of a stored prompt profile. */
  executeProfile<Schema extends SchemaSource | undefined = undefined>(
    options: ExecuteProfileOptions<Schema>,
  ): Promise<Generated<TypedOutput<Schema>>>
  /** Replaces the plugins of this runtime; `null` goes back to those it was created with. A fault leaves it shut: HOOKS_BROKEN. */
  setHooks(plugins: PluginList | null): Promise<void>
  /**
   * A runtime that shares everything with this one but the plugins. Its `close` waits for the runs that started with them and
   * disposes them; called inside such a run it returns at once, and they are disposed when that run has ended. The rest ends
   * with its origin. @throws INVALID_CONFIG (`reason` `fork.options`) without a list of plugins
   */
  fork(options: { readonly plugins: PluginList }): Promise<Runtime>
  /** What an agent can reach, what stands in front of it, and how to switch it off (B-26). */
  explain(agentCode: string): Promise<Explanation>
  /** Ends a run. Returns false where it had ended already. @throws NOT_FOUND */
  cancel(executionId: string, options: { readonly scope: Scope; readonly reason?: string }): Promise<boolean>
  /** The api that a plugin returned from `apply`; `id` names one of several instances. @throws NOT_FOUND */
  plugin<Api>(
    factory: {
      readonly meta: { readonly name: string }
      readonly spec: { apply(...args: never[]): unknown }
    } & PluginWithApi<Api>,
    id?: string,
  ): Api
  /** Runs `fn` as if outside any run: what it starts is not nested and outlives the run around it. */
  detached<Result>(fn: () => Result): Result
  /** This runtime with the scope of a caller filled in. */
  as(caller: Caller): { readonly caller: ResolvedCaller; readonly scope: Scope }
  /** Turns `events.fatal` off. The callback and the plugins stay (E-6, E-21). */
  reset(): void
  health(): Health
  /**
   * Ends all runs as aborted, waits for them, disposes plugins and providers. It closes a store that it made itself; one that
   * was given stays open, and whoever made it closes it afterwards. Safe to call twice.
   */
  close(): Promise<void>
  readonly agents: AgentRegistry
  readonly prompts: PromptRegistry
  readonly sessions: Sessions
  readonly executions: Executions
  readonly events: Events
}

/** Carries the type of a plugin's api. */
export interface PluginWithApi<Api> {
  (...args: never[]): { readonly spec: { apply(...args: never[]): unknown }; readonly '~api'?: Api }
}
