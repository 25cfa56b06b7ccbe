import type { RunEvent } from '../events/run-event.js'
import type {
  BeforeExecutionContext,
  BeforeModelCallContext,
  WhileInFlightContext,
  InspectReplyContext,
  BeforeToolCallContext,
  InspectToolInputContext,
  AfterModelCallContext,
  AfterToolCallContext,
  AfterExecutionContext,
  OnStopContext,
} from './hook-contexts.js'

/** Contexts of the gate points. */
export interface GateContexts {
  beforeExecution: BeforeExecutionContext
  beforeModelCall: BeforeModelCallContext
  whileInFlight: WhileInFlightContext
  inspectReply: InspectReplyContext
  beforeToolCall: BeforeToolCallContext
  inspectToolInput: InspectToolInputContext
}

/** Contexts of the observer points (without `augmentSystemPrompt`, which is a chain). */
export interface ObserverContexts {
  afterModelCall: AfterModelCallContext
  afterToolCall: AfterToolCallContext
  afterExecution: AfterExecutionContext
  onStop: OnStopContext
  onEvent: RunEvent
}

export type GatePoint = keyof GateContexts
/** A gate point, or `authorize` of a tool, which answers like a gate and stands in the receipt with them. */
export type AskPoint = GatePoint | 'authorize'
export type ObserverPoint = keyof ObserverContexts
export type HookPoint = GatePoint | ObserverPoint | 'augmentSystemPrompt'

/** The answers that each gate point takes besides passing; anything else is a failure. */
export const GATE_ANSWERS = Object.freeze({
  beforeExecution: Object.freeze(['Veto', 'Wait'] as const),
  beforeModelCall: Object.freeze(['Veto', 'Wait', 'Land'] as const),
  whileInFlight: Object.freeze(['Veto'] as const),
  inspectReply: Object.freeze(['Veto', 'Refusal'] as const),
  beforeToolCall: Object.freeze(['Veto', 'Refusal', 'Wait'] as const),
  inspectToolInput: Object.freeze(['Veto', 'Refusal', 'Wait', 'Pause'] as const),
  authorize: Object.freeze(['Veto', 'Refusal'] as const),
}) satisfies Readonly<Record<AskPoint, readonly ('Veto' | 'Refusal' | 'Pause' | 'Wait' | 'Land')[]>>

/** One row of the table of hook points: the docs table and the order test are made from it. */
export interface HookPointRow {
  readonly kind: 'gate' | 'closing observer' | 'observer' | 'prompt chain'
  readonly fires: string
  readonly failure: string
}

/** All hook points in the order of the life of a run. */
export const HOOK_POINTS = Object.freeze({
  beforeExecution: {
    kind: 'gate',
    fires:
      'once per top-level run, after the agent is resolved and the run context bound, before any record or provider call',
    failure: 'the run ends',
  },
  augmentSystemPrompt: {
    kind: 'prompt chain',
    fires:
      'on the first turn of every agent that renders a prompt profile, after our own augmentation, before the model call',
    failure: 'the change is discarded',
  },
  beforeModelCall: {
    kind: 'gate',
    fires: 'before each request to a provider, also each retry and fallback',
    failure: 'the run ends',
  },
  whileInFlight: {
    kind: 'gate',
    fires: 'every watchMs while a model request or a handler is open',
    failure: 'the effect is aborted and the run ends',
  },
  inspectReply: {
    kind: 'gate',
    fires: 'after a reply is complete and parsed, before its text is final and its tool calls are looked at',
    failure: 'the run ends',
  },
  afterModelCall: {
    kind: 'closing observer',
    fires: 'once per attempt of every model call of which a gate was asked',
    failure: 'logged and counted',
  },
  beforeToolCall: { kind: 'gate', fires: 'before every tool call, never with the arguments', failure: 'the run ends' },
  inspectToolInput: {
    kind: 'gate',
    fires: 'directly after beforeToolCall of the same call, with a copy of the validated arguments',
    failure: 'the run ends',
  },
  afterToolCall: {
    kind: 'closing observer',
    fires: 'once per attempt of every tool call of which a gate was asked',
    failure: 'logged and counted',
  },
  afterExecution: {
    kind: 'observer',
    fires: 'once when a top-level run that passed beforeExecution ends',
    failure: 'logged and counted',
  },
  onStop: { kind: 'observer', fires: 'for every stop, refusal and pause', failure: 'logged and counted' },
  onEvent: { kind: 'observer', fires: 'for every event during generateText', failure: 'logged and counted' },
}) satisfies Readonly<Record<HookPoint, HookPointRow>>
