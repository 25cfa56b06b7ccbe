import type { AssistantPart, JsonObject, ReasoningPart } from '@sluice/core'
import { OPENAI_RESPONSES } from '../../behaviour/openai-behaviour.js'
import { finishReasonOf } from '../../shared/finish-reason.js'
import { errorInReply, ReplyFault, usableReply } from '../../shared/reply-fault.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject, wireText } from '../../shared/wire-json.js'
import type { Reading, WireReply } from '../../shared/wire-protocol.js'
import { openaiUsage } from './openai-usage.js'

/** A whole answer of the Responses API. */
export function fromOpenAIResponse(body: unknown, reading: Reading): WireReply {
  const response = usableReply(body)
  if (!Array.isArray(response.output)) throw new ReplyFault('the answer has no list of output items')
  return fromItems(response, response.output, reading)
}

/** A response whose output items are these: a stream may have delivered them one by one. */
export function fromItems(response: Wire, items: readonly unknown[], reading: Reading): WireReply {
  const status = wireName(response.status)
  if (status === 'failed') throw errorInReply(response.error ?? { message: 'the response failed without a reason' })
  if (status === 'queued' || status === 'in_progress' || status === 'cancelled') {
    throw new ReplyFault(`the response is ${status}`)
  }
  const parts = partsOf(items, reading)
  const reason = wireName(wireObject(response.incomplete_details).reason)
  const model = wireName(response.model)
  const responseId = wireName(response.id)
  return {
    parts,
    finishReason: finishReasonOf(OPENAI_RESPONSES.finishReasons, reason ?? status, parts),
    ...(reason === undefined && status === undefined ? {} : { rawFinishReason: reason ?? (status as string) }),
    ...openaiUsage(response.usage),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
  }
}

/** Output items as neutral parts, in their order. Items that are not known are kept as hosted, so that they can go back. */
export function partsOf(items: readonly unknown[], reading: Reading): AssistantPart[] {
  const parts: AssistantPart[] = []
  for (const item of items) {
    if (!isWire(item)) continue
    if (item.type === 'message') messageParts(item, reading, parts)
    else if (item.type === 'reasoning') parts.push(reasoningPart(item, reading))
    else if (item.type === 'function_call') parts.push(callPart(item, reading))
    else parts.push(hostedPart(item, reading))
  }
  return parts
}

function messageParts(item: Wire, { providerId }: Reading, parts: AssistantPart[]): void {
  for (const content of wireList(item.content)) {
    if (!isWire(content)) continue
    const refusal = content.type === 'refusal'
    const text = wireText(refusal ? content.refusal : content.text)
    if (text === '' || (!refusal && content.type !== 'output_text')) continue
    const own: Record<string, unknown> = {}
    if (wireName(item.id) !== undefined) own.itemId = item.id
    if (wireName(item.phase) !== undefined) own.phase = item.phase
    if (wireList(content.annotations).length > 0) own.annotations = content.annotations
    const part = { type: refusal ? ('refusal' as const) : ('text' as const), text }
    parts.push(Object.keys(own).length === 0 ? part : { ...part, providerOptions: { [providerId]: own as JsonObject } })
  }
}

function reasoningPart(item: Wire, { providerId }: Reading): ReasoningPart {
  const { type: _type, status: _status, content, ...own } = item
  const described = wireList(item.summary)
  const text = (described.length > 0 ? described : wireList(content)).map((piece) => wireText(wireObject(piece).text))
  const kept = wireList(content).length === 0 ? own : { ...own, content }
  return {
    type: 'reasoning',
    text: text.join('\n\n'),
    providerOptions: { [providerId]: { reasoning: kept as JsonObject } },
  }
}

function callPart(item: Wire, { providerId, ids }: Reading): AssistantPart {
  const { type: _type, status: _status, id, call_id, name, arguments: args, ...more } = item
  const own: Record<string, unknown> = {}
  if (wireName(id) !== undefined) own.itemId = id
  if (Object.keys(more).length > 0) own.more = more
  return {
    type: 'tool_call',
    toolCallId: ids.claim(call_id),
    toolName: wireText(name),
    args: wireText(args),
    ...(Object.keys(own).length === 0 ? {} : { providerOptions: { [providerId]: own as JsonObject } }),
  }
}

function hostedPart(item: Wire, { providerId }: Reading): AssistantPart {
  const type = wireText(item.type)
  const action = wireObject(item.action)
  const about = wireName(action.query) ?? wireName(action.url) ?? wireName(item.name)
  const status = wireName(item.status)
  return {
    type: 'hosted',
    toolName: type.replace(/_call$/, ''),
    text: [type, status, about].filter((word) => word !== undefined).join(' '),
    providerOptions: { [providerId]: { item: item as JsonObject } },
  }
}
