import type { JsonObject } from '../internal/json.js'
import type { Label } from './label.js'

/**
 * Opaque data that a provider needs to see again (signatures, encrypted reasoning, item ids), keyed by the id of the
 * provider that gave it. Only the adapter of that id reads its own key, so it goes back to the same provider and to no other.
 */
export type ProviderOptions = Readonly<Record<string, JsonObject>>

/** Text of a message. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly providerOptions?: ProviderOptions
  /** Sources of untrusted text that this part carries. */
  readonly labels?: readonly Label[]
}

/** A file: `data` is base64 without a prefix. PDF and the image types JPEG, PNG, GIF and WebP are known to all adapters (G-20). */
export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: string
  readonly filename?: string
  readonly providerOptions?: ProviderOptions
  readonly labels?: readonly Label[]
}

/** Reasoning of the model. `text` may be empty where the provider gives only encrypted content. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly providerOptions?: ProviderOptions
}

/** A tool that the model asks for. `args` is the JSON text exactly as the model sent it. */
export interface ToolCallPart {
  readonly type: 'tool_call'
  readonly toolCallId: string
  readonly toolName: string
  readonly args: string
  readonly providerOptions?: ProviderOptions
}

/** A refusal that the provider gave in place of text (OpenAI's `refusal` part). */
export interface RefusalPart {
  readonly type: 'refusal'
  readonly text: string
  readonly providerOptions?: ProviderOptions
}

/** A tool that ran at the provider (web search, code execution): kept so that it can go back, never run by us. */
export interface HostedPart {
  readonly type: 'hosted'
  readonly toolName: string
  /** A short text for people; the whole item lies in `providerOptions`. */
  readonly text: string
  readonly providerOptions?: ProviderOptions
}

/** What became of a tool call (G-41, widened). */
export type ToolStatus = 'ok' | 'error' | 'refused' | 'vetoed' | 'skipped_limit' | 'invalid' | 'not_run' | 'unknown'

/** The result of a tool call as the model reads it. */
export interface ToolResultPart {
  readonly type: 'tool_result'
  readonly toolCallId: string
  readonly toolName: string
  readonly result: string
  readonly status: ToolStatus
  /** Set where the handler failed: the reference (`ERR-...`) of the true error in the error log. */
  readonly errorReference?: string
  readonly providerOptions?: ProviderOptions
  readonly labels?: readonly Label[]
}

export interface SystemMessage {
  readonly role: 'system'
  readonly content: string
}
export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly (TextPart | FilePart)[]
}
export type AssistantPart = TextPart | FilePart | ReasoningPart | ToolCallPart | RefusalPart | HostedPart
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly AssistantPart[]
  /** Provider and model that produced it; absent for messages that the caller wrote. */
  readonly provider?: string
  readonly model?: string
  /** Labels of everything that was in the request of this reply. */
  readonly labels?: readonly Label[]
}
export interface ToolMessage {
  readonly role: 'tool'
  readonly content: readonly ToolResultPart[]
}

/** One provider-neutral message (G-16 to G-18). A round with tool calls is one assistant message and one tool message. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage
