import type {
  AfterExecutionContext,
  AfterModelCallContext,
  AfterToolCallContext,
  BeforeExecutionContext,
  BeforeModelCallContext,
  BeforeToolCallContext,
  InspectReplyContext,
  InspectToolInputContext,
  OnStopContext,
  PromptContext,
  WhileInFlightContext,
} from './hook-contexts.js'
import type { RunEvent } from '../events/run-event.js'

/** Options of a tap. A string stands for `{ name }`. */
export interface TapOptions {
  /** Appears in errors and in `explain`. */
  readonly name: string
  /** Any finite number up to `Stage.record`; low ones are asked first. Default `Stage.limit` (0). */
  readonly stage?: number
  /** Names of taps of the same plugin and stage that this one stands before. */
  readonly before?: string | readonly string[]
  /** Deadline of this tap in milliseconds, finite and above 0. Default: `hookTimeoutMs` or `observerTimeoutMs` of the runtime. */
  readonly timeoutMs?: number
}

/** Node-style callback of `tapAsync`: only `null` and `undefined` mean that there is no error. */
export type TapCallback = (error?: unknown) => void

/**
 * A gate point as a plugin taps it. A gate passes by settling with `undefined`; it stops by throwing one of the answers.
 * Any other value that it returns, and anything else that it throws, stops the run as a failure. (A return type of exactly
 * `void` would take functions that return anything.)
 */
export interface GateHook<Context> {
  tap<Returned extends void | Promise<void>>(options: string | TapOptions, gate: (context: Context) => Returned): void
  tapPromise<Returned extends Promise<void>>(options: string | TapOptions, gate: (context: Context) => Returned): void
  tapAsync<Returned extends void | undefined>(
    options: string | TapOptions,
    gate: (context: Context, callback: TapCallback) => Returned,
  ): void
}

/** An observer point: whatever goes wrong in a tap is logged and counted, and the run goes on. */
export interface ObserverHook<Context> {
  tap<Returned extends void | Promise<void>>(
    options: string | TapOptions,
    observer: (context: Context) => Returned,
  ): void
  tapPromise<Returned extends Promise<void>>(
    options: string | TapOptions,
    observer: (context: Context) => Returned,
  ): void
  tapAsync<Returned extends void | undefined>(
    options: string | TapOptions,
    observer: (context: Context, callback: TapCallback) => Returned,
  ): void
}

/** What a prompt tap gives back: the next prompt, or `undefined` for unchanged. */
export type NextPrompt = string | undefined | void

/** `augmentSystemPrompt`: taps one after another, each with the prompt of the last. A failing tap's change is discarded. */
export interface PromptHook {
  tap(
    options: string | TapOptions,
    augment: (prompt: string | undefined, context: PromptContext) => NextPrompt | Promise<NextPrompt>,
  ): void
  tapPromise(
    options: string | TapOptions,
    augment: (prompt: string | undefined, context: PromptContext) => Promise<NextPrompt>,
  ): void
  tapAsync(
    options: string | TapOptions,
    augment: (
      prompt: string | undefined,
      context: PromptContext,
      callback: (error?: unknown, next?: string) => void,
    ) => void,
  ): void
}

/** The hook points of a runtime, as `apply` gets them. Sealed when `apply` has ended. */
export interface Hooks {
  readonly beforeExecution: GateHook<BeforeExecutionContext>
  readonly augmentSystemPrompt: PromptHook
  readonly beforeModelCall: GateHook<BeforeModelCallContext>
  readonly whileInFlight: GateHook<WhileInFlightContext>
  readonly inspectReply: GateHook<InspectReplyContext>
  readonly afterModelCall: ObserverHook<AfterModelCallContext>
  readonly beforeToolCall: GateHook<BeforeToolCallContext>
  readonly inspectToolInput: GateHook<InspectToolInputContext>
  readonly afterToolCall: ObserverHook<AfterToolCallContext>
  readonly afterExecution: ObserverHook<AfterExecutionContext>
  readonly onStop: ObserverHook<OnStopContext>
  readonly onEvent: ObserverHook<RunEvent>
}
