import type { AssistantPart, JsonObject } from '@sluice/core'
import { OPENAI_CHAT } from '../../behaviour/openai-behaviour.js'
import { finishReasonOf } from '../../shared/finish-reason.js'
import { ReplyFault, usableReply } from '../../shared/reply-fault.js'
import type { ToolCallIds } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject, wireText } from '../../shared/wire-json.js'
import type { Reading, WireReply } from '../../shared/wire-protocol.js'
import { openaiUsage } from './openai-usage.js'

/** Where servers put reasoning: DeepSeek and xAI, then OpenRouter and Ollama. */
export const REASONING_MEMBERS = ['reasoning_content', 'reasoning'] as const

/** Words of the models behind OpenRouter for a reply that was cut off. */
const CUT_OFF = new Set(
  Object.entries(OPENAI_CHAT.finishReasons).flatMap(([word, reason]) => (reason === 'length' ? [word] : [])),
)

/** A whole answer of Chat Completions. A filtered choice may have no message at all (Azure). */
export function fromOpenAIResponse(body: unknown, reading: Reading): WireReply {
  const completion = usableReply(body)
  const choice = wireList(completion.choices)[0]
  if (!isWire(choice)) throw new ReplyFault('the answer has no choice')
  if (isWire(choice.error)) throw new ReplyFault('the choice is an error', choice.error)
  return fromChoice(completion, choice, reading)
}

/** The reply of a completion whose choice is this: a stream has put it together. */
export function fromChoice(completion: Wire, choice: Wire, reading: Reading): WireReply {
  const parts = partsOf(wireObject(choice.message), reading)
  const raw = wordOf(choice)
  const model = wireName(completion.model)
  const responseId = wireName(completion.id)
  return {
    parts,
    finishReason: finishReasonOf(OPENAI_CHAT.finishReasons, raw, parts),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    ...openaiUsage(completion.usage),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
  }
}

/**
 * OpenRouter says `tool_calls` beside calls that were cut off, and the model's own word beside it: a reply that the model
 * says was cut off is one.
 */
function wordOf(choice: Wire): string | undefined {
  const native = wireName(choice.native_finish_reason)
  return native !== undefined && CUT_OFF.has(native) ? native : wireName(choice.finish_reason)
}

/** One message of the model as neutral parts: reasoning, text, refusal, tool calls. */
export function partsOf(message: Wire, { providerId, ids }: Reading): AssistantPart[] {
  const parts: AssistantPart[] = []
  for (const member of REASONING_MEMBERS) {
    const text = wireText(message[member])
    const details = wireList(message.reasoning_details)
    if (text === '' && (details.length === 0 || member === 'reasoning_content')) continue
    const own = details.length === 0 ? { member } : { member, details }
    parts.push({ type: 'reasoning', text, providerOptions: { [providerId]: own as JsonObject } })
    break
  }
  const text = contentText(message.content)
  if (text !== '') parts.push({ type: 'text', text })
  const refusal = wireText(message.refusal)
  if (refusal !== '') parts.push({ type: 'refusal', text: refusal })
  for (const call of wireList(message.tool_calls)) if (isWire(call)) parts.push(callPart(call, ids))
  return parts
}

/** Content as text: a string, or a list of pieces. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return wireList(content)
    .map((piece) => wireText(wireObject(piece).text))
    .join('')
}

function callPart(call: Wire, ids: ToolCallIds): AssistantPart {
  const { name, arguments: args } = wireObject(call.function)
  return {
    type: 'tool_call',
    toolCallId: ids.claim(call.id),
    toolName: wireText(name),
    // a few servers send the arguments as an object
    args: isWire(args) ? JSON.stringify(args) : wireText(args),
  }
}
