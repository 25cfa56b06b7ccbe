import type {
  AssistantPart,
  FinishReason,
  JsonObject,
  ModelReply,
  ProviderOptions,
  ToolCallPart,
  Usage,
} from '@sluice/core'
import { USAGE_NOT_REPORTED } from '@sluice/core'
import type { Latch } from '../time/latch.js'

/** A tool call of a script; an id is drawn when it is played, so that two replies never share one by accident. */
export interface ScriptedToolCall {
  readonly type: 'scripted_tool_call'
  readonly name: string
  /** JSON text, or whatever a malformed reply holds. */
  readonly args: string
  /** `undefined`: a fresh id; `null`: the provider gave none (an empty string). */
  readonly id: string | null | undefined
}

export type ScriptedPart = AssistantPart | ScriptedToolCall

/** How the stream of a reply behaves. `generate` answers whole: it breaks, hangs and waits at the same places, without deltas. */
export interface StreamShape {
  /** UTF-16 units of text, reasoning or arguments in one delta. @default 16 */
  readonly chunkLength?: number
  /** Breaks after so many deltas, with what was delivered. */
  readonly breakAfter?: number
  /** Whether usage had been reported when the stream broke. @default false */
  readonly usageBeforeBreak?: boolean
  /** Thrown at the break, as it is. @default ProviderError PROVIDER_STREAM_BROKEN */
  readonly breakWith?: Error
  /** Stands still after so many deltas until the request is aborted. */
  readonly hangAfter?: number
  /** Waits after so many deltas until `latch` is open. */
  readonly holdAfter?: { readonly deltas: number; readonly latch: Latch }
}

/** Everything of a reply but its parts, usage and finish reason. */
export type ReplyExtras = Partial<
  Pick<
    ModelReply,
    'model' | 'responseId' | 'requestId' | 'rateLimit' | 'usageMismatch' | 'reportedUsd' | 'rawFinishReason'
  >
>

interface ReplyState {
  readonly parts: readonly ScriptedPart[]
  readonly usage: Usage
  readonly finishReason: FinishReason | undefined
  readonly extras: ReplyExtras
  readonly stream: StreamShape
}

/** Usage of a scripted reply that says nothing about it: 10 tokens in, 5 out. */
export const SCRIPTED_USAGE: Usage = Object.freeze({
  inputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  unreportedCalls: 0,
})

const EMPTY: ReplyState = Object.freeze({
  parts: [],
  usage: SCRIPTED_USAGE,
  finishReason: undefined,
  extras: {},
  stream: {},
})

/**
 * One reply of a script. Immutable: every method gives a new reply with one thing more, so that steps can be shared and
 * varied. Start one with {@link reply}.
 */
export class ScriptedReply {
  readonly kind = 'reply'
  readonly state: ReplyState

  constructor(state: ReplyState = EMPTY) {
    this.state = state
  }

  /** Adds text. */
  text(text: string): ScriptedReply {
    return this.part({ type: 'text', text })
  }

  /** Adds reasoning, with what the provider needs to see again. */
  reasoning(text: string, providerOptions?: ProviderOptions): ScriptedReply {
    return this.part(
      providerOptions === undefined ? { type: 'reasoning', text } : { type: 'reasoning', text, providerOptions },
    )
  }

  /**
   * Adds a tool call; several of them make a round of several calls. A string as `args` is sent as it is, valid JSON or not.
   * `id: null` is a call to which the provider gave no id.
   */
  toolCall(name: string, args: JsonObject | string = {}, options: { readonly id?: string | null } = {}): ScriptedReply {
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    return this.part({ type: 'scripted_tool_call', name, args: text, id: options.id })
  }

  /** Adds any part: a refusal, a hosted tool, a file. */
  part(part: ScriptedPart): ScriptedReply {
    return this.#with({ parts: [...this.state.parts, part] })
  }

  /** Sets classes of usage, the others stay as they are; `null` is a class without a report, `'not reported'` all of them. */
  usage(usage: Partial<Usage> | 'not reported'): ScriptedReply {
    return this.#with({ usage: usage === 'not reported' ? USAGE_NOT_REPORTED : { ...this.state.usage, ...usage } })
  }

  /** Sets the finish reason. @default `tool_calls` with tool calls, `refusal` with a refusal part, else `stop` */
  finish(finishReason: FinishReason): ScriptedReply {
    return this.#with({ finishReason })
  }

  /** Sets ids, the model that answered, rate-limit headers and the like. */
  with(extras: ReplyExtras): ScriptedReply {
    return this.#with({ extras: { ...this.state.extras, ...extras } })
  }

  /** Shapes the stream: chunks, a break, a hang, a latch. */
  streamed(stream: StreamShape): ScriptedReply {
    return this.#with({ stream: { ...this.state.stream, ...stream } })
  }

  #with(change: Partial<ReplyState>): ScriptedReply {
    return new ScriptedReply({ ...this.state, ...change })
  }
}

/** The finish reason that a reply has where the script names none. */
export function defaultFinishReason(parts: readonly ScriptedPart[]): FinishReason {
  if (parts.some((part) => part.type === 'scripted_tool_call' || part.type === 'tool_call')) return 'tool_calls'
  return parts.some((part) => part.type === 'refusal') ? 'refusal' : 'stop'
}

/** The call as the provider contract has it, with an id from `freshId` where the script left it open. */
export function toToolCallPart(call: ScriptedToolCall, freshId: () => string): ToolCallPart {
  const toolCallId = call.id === undefined ? freshId() : (call.id ?? '')
  return { type: 'tool_call', toolCallId, toolName: call.name, args: call.args }
}
