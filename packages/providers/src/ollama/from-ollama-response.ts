import type { AssistantPart } from '@sluice/core'
import { OLLAMA_CHAT } from '../behaviour/ollama-behaviour.js'
import { finishReasonOf } from '../shared/finish-reason.js'
import { ReplyFault, usableReply } from '../shared/reply-fault.js'
import type { ToolCallIds } from '../shared/tool-call-ids.js'
import type { UsageReading } from '../shared/usage-classes.js'
import { disjointUsage } from '../shared/usage-classes.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireCount, wireList, wireName, wireObject, wireText } from '../shared/wire-json.js'
import type { Reading, WireReply } from '../shared/wire-protocol.js'

/** A whole answer of `POST /api/chat`. */
export function fromOllamaResponse(body: unknown, reading: Reading): WireReply {
  const chat = usableReply(body)
  if (!isWire(chat.message)) throw new ReplyFault('the answer has no message')
  return fromMessage(chat, chat.message, reading)
}

/** The reply whose message is this: a stream has put it together. */
export function fromMessage(chat: Wire, message: Wire, reading: Reading): WireReply {
  const parts = partsOf(message, reading)
  const raw = wireName(chat.done_reason)
  const model = wireName(chat.model)
  return {
    parts,
    finishReason: finishReasonOf(OLLAMA_CHAT.finishReasons, known(raw), parts),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    ...ollamaUsage(chat),
    ...(model === undefined ? {} : { model }),
  }
}

/** Any word but the known ones (`load`, `unload`) is a stop (G-14). */
function known(raw: string | undefined): string | undefined {
  return raw !== undefined && Object.hasOwn(OLLAMA_CHAT.finishReasons, raw) ? raw : undefined
}

/** Nothing is told of a cache, and reasoning is counted inside the output without a figure of its own. */
export function ollamaUsage(chat: Wire): UsageReading {
  return disjointUsage({
    input: wireCount(chat.prompt_eval_count),
    cacheRead: null,
    cacheWrite: null,
    output: wireCount(chat.eval_count),
    reasoning: null,
    total: null,
  })
}

/** One message of the model as neutral parts: reasoning, text, tool calls. */
export function partsOf(message: Wire, { providerId, ids }: Reading): AssistantPart[] {
  const parts: AssistantPart[] = []
  const thinking = wireText(message.thinking)
  if (thinking !== '') {
    parts.push({ type: 'reasoning', text: thinking, providerOptions: { [providerId]: { member: 'thinking' } } })
  }
  const text = wireText(message.content)
  if (text !== '') parts.push({ type: 'text', text })
  for (const call of wireList(message.tool_calls)) if (isWire(call)) parts.push(callPart(call, ids))
  return parts
}

/** Older servers give no ids; arguments are an object, or text from servers that only resemble Ollama. */
function callPart(call: Wire, ids: ToolCallIds): AssistantPart {
  const { name, arguments: args } = wireObject(call.function)
  return {
    type: 'tool_call',
    toolCallId: ids.claim(call.id),
    toolName: wireText(name),
    args: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  }
}
