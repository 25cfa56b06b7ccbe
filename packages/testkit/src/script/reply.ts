import type { JsonObject, JsonValue, ProviderOptions } from '@sluice/core'
import { ScriptedReply } from './scripted-reply.js'

/** Starts a reply of a script: `reply('text')`, `reply.toolCall('ap_get_invoice', { invoice: 'INV-1002' })`. */
export interface ReplyBuilder {
  /** A reply of one text. */
  (text: string): ScriptedReply
  /** A reply that asks for one tool; chain `.toolCall` for more in the same round. */
  toolCall(name: string, args?: JsonObject | string, options?: { readonly id?: string | null }): ScriptedReply
  /** A reply that begins with reasoning; chain `.text` or `.toolCall`. */
  reasoning(text: string, providerOptions?: ProviderOptions): ScriptedReply
  /** A reply whose text is `value` as JSON, for structured output. */
  json(value: JsonValue): ScriptedReply
  /** A reply in which the provider refuses, in its own part. */
  refusal(text: string): ScriptedReply
  /** A reply with neither text nor calls. */
  empty(): ScriptedReply
}

/** @see ReplyBuilder */
export const reply: ReplyBuilder = Object.assign((text: string) => new ScriptedReply().text(text), {
  toolCall: (name: string, args?: JsonObject | string, options?: { readonly id?: string | null }) =>
    new ScriptedReply().toolCall(name, args, options),
  reasoning: (text: string, providerOptions?: ProviderOptions) => new ScriptedReply().reasoning(text, providerOptions),
  json: (value: JsonValue) => new ScriptedReply().text(JSON.stringify(value)),
  refusal: (text: string) => new ScriptedReply().part({ type: 'refusal', text }),
  empty: () => new ScriptedReply(),
})
