import type { ModelRequest, ProviderErrorCode, ProviderErrorOptions } from '@sluice/core'
import type { Latch } from '../time/latch.js'
import type { ScriptedReply } from './scripted-reply.js'

/** What a step function is told about the call it answers. */
export interface StepCall {
  /** 1 for the first call of this provider. */
  readonly number: number
  readonly mode: 'generate' | 'stream'
  readonly signal: AbortSignal
}

/** Answers one call by code. */
export type StepFunction = (request: ModelRequest, call: StepCall) => ScriptStep | PromiseLike<ScriptStep>

/** A provider error, made when it is played so that it names provider and model. Build one with {@link providerError}. */
export interface FailingStep {
  readonly kind: 'provider_error'
  readonly code: ProviderErrorCode
  readonly message: string | undefined
  readonly options: Omit<ProviderErrorOptions, 'provider' | 'model'>
}

/** Throws `value` as it is, as an adapter with a bug would. Build one with {@link throwing}. */
export interface ThrowingStep {
  readonly kind: 'throw'
  readonly value: unknown
}

/** Never answers until the request is aborted; with `ignoreSignal`, not even then. Build one with {@link hang}. */
export interface HangingStep {
  readonly kind: 'hang'
  readonly ignoreSignal: boolean
}

/** Waits for a latch, then plays `step`. Build one with {@link held}. */
export interface HeldStep {
  readonly kind: 'held'
  readonly latch: Latch
  readonly step: ScriptStep
}

/** Answers every further call with `step`; never exhausted and never left over. Build one with {@link repeat}. */
export interface RepeatedStep {
  readonly kind: 'repeat'
  readonly step: ScriptStep
}

/** Gives `value` as the reply, whatever it is: an adapter that breaks the contract. Build one with {@link rawReply}. */
export interface RawStep {
  readonly kind: 'raw'
  readonly value: unknown
}

/** One answer of a scripted provider; a string is a reply of that text. */
export type ScriptStep =
  | string
  | ScriptedReply
  | FailingStep
  | ThrowingStep
  | HangingStep
  | HeldStep
  | RepeatedStep
  | RawStep
  | StepFunction

const STATUS_CODES: readonly (readonly [from: number, to: number, code: ProviderErrorCode])[] = [
  [401, 401, 'PROVIDER_AUTH'],
  [403, 403, 'PROVIDER_AUTH'],
  [404, 404, 'MODEL_NOT_FOUND'],
  [408, 408, 'PROVIDER_TIMEOUT'],
  [413, 413, 'CONTEXT_LENGTH_EXCEEDED'],
  [429, 429, 'PROVIDER_RATE_LIMITED'],
  [500, 599, 'PROVIDER_OVERLOADED'],
]

/** A step that fails with a `ProviderError`: by code, or by HTTP status (`providerError(429, { retryAfterMs: 1000 })`). */
export function providerError(
  what: ProviderErrorCode | number,
  options: Omit<ProviderErrorOptions, 'provider' | 'model'> & { readonly message?: string } = {},
): FailingStep {
  const { message, ...rest } = options
  if (typeof what === 'string') return { kind: 'provider_error', code: what, message, options: rest }
  const code = STATUS_CODES.find(([from, to]) => what >= from && what <= to)?.[2] ?? 'PROVIDER_RESPONSE_ERROR'
  return { kind: 'provider_error', code, message, options: { sent: 'yes', ...rest, status: what } }
}

/** A step that throws `value` as it is: any value, also none of ours. */
export function throwing(value: unknown): ThrowingStep {
  return { kind: 'throw', value }
}

/** A step that never answers. It ends with the signal's reason when the request is aborted, unless `ignoreSignal` is true. */
export function hang(options: { readonly ignoreSignal?: boolean } = {}): HangingStep {
  return { kind: 'hang', ignoreSignal: options.ignoreSignal ?? false }
}

/** A step that waits until `latch` is open, then plays `step`. */
export function held(latch: Latch, step: ScriptStep): HeldStep {
  return { kind: 'held', latch, step }
}

/** A step that answers this and every further call. */
export function repeat(step: ScriptStep): RepeatedStep {
  return { kind: 'repeat', step }
}

/** A step whose reply is `value` as it is, in the shape of the provider contract or not. */
export function rawReply(value: unknown): RawStep {
  return { kind: 'raw', value }
}

const KINDS: ReadonlySet<unknown> = new Set(['reply', 'provider_error', 'throw', 'hang', 'held', 'repeat', 'raw'])

/** True for everything that a script may hold. */
export function isScriptStep(value: unknown): value is ScriptStep {
  if (typeof value === 'string' || typeof value === 'function') return true
  if (value === null || typeof value !== 'object') return false
  const step = value as { kind?: unknown; step?: unknown }
  if (step.kind === 'held' || step.kind === 'repeat') return isScriptStep(step.step)
  return KINDS.has(step.kind)
}

const SHOWN = 60

/** One line about a step, for messages. */
export function describeStep(step: ScriptStep): string {
  if (typeof step === 'string') return `text ${quote(step)}`
  if (typeof step === 'function') return `function ${step.name || '(anonymous)'}`
  switch (step.kind) {
    case 'reply': {
      const parts = step.state.parts.map((part) => {
        if (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal') {
          return `${part.type} ${quote(part.text)}`
        }
        return part.type === 'scripted_tool_call' ? `call of ${part.name}` : part.type
      })
      return parts.length === 0 ? 'empty reply' : parts.join(', ')
    }
    case 'provider_error':
      return `error ${step.code}`
    case 'held':
      return `held ${describeStep(step.step)}`
    case 'repeat':
      return `repeated ${describeStep(step.step)}`
    default:
      return step.kind
  }
}

/** Text in quotes, bounded and on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
}
