import type { AssistantPart } from '@sluice/core'
import { OCI_GENERIC } from '../../behaviour/oci-behaviour.js'
import { finishReasonOf } from '../../shared/finish-reason.js'
import { ReplyFault, usableReply } from '../../shared/reply-fault.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject, wireText } from '../../shared/wire-json.js'
import type { Reading, WireReply } from '../../shared/wire-protocol.js'
import { ociUsage } from '../oci-usage.js'

/** A whole answer of a model of any vendor but Cohere. */
export function fromOciGenericResponse(body: unknown, reading: Reading): WireReply {
  const result = usableReply(body)
  const chat = wireObject(result.chatResponse)
  const choice = wireList(chat.choices)[0]
  if (!isWire(choice)) throw new ReplyFault('the answer has no choice')
  return fromChoice({ model: result.modelId, usage: chat.usage ?? choice.usage }, choice, reading)
}

/** What stands around the choice. */
export interface Envelope {
  model?: unknown
  usage?: unknown
}

/** The reply whose choice is this: a stream has put it together. */
export function fromChoice(envelope: Envelope, choice: Wire, reading: Reading): WireReply {
  const parts = partsOf(wireObject(choice.message), reading)
  const raw = wireName(choice.finishReason)
  const model = wireName(envelope.model)
  return {
    parts,
    finishReason: finishReasonOf(OCI_GENERIC.finishReasons, raw, parts),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    ...ociUsage(envelope.usage),
    ...(model === undefined ? {} : { model }),
  }
}

/** One message of the model as neutral parts: reasoning, text, refusal, tool calls. */
export function partsOf(message: Wire, { providerId, ids }: Reading): AssistantPart[] {
  const parts: AssistantPart[] = []
  const thought = wireText(message.reasoningContent)
  if (thought !== '') {
    parts.push({ type: 'reasoning', text: thought, providerOptions: { [providerId]: { member: 'reasoningContent' } } })
  }
  const text = contentText(message.content)
  if (text !== '') parts.push({ type: 'text', text })
  const refusal = wireText(message.refusal)
  if (refusal !== '') parts.push({ type: 'refusal', text: refusal })
  for (const call of wireList(message.toolCalls)) {
    if (!isWire(call)) continue
    parts.push({
      type: 'tool_call',
      toolCallId: ids.claim(call.id),
      toolName: wireText(call.name),
      args: wireText(call.arguments),
    })
  }
  return parts
}

/** Content as text: a list of pieces, of which those that are none have no text. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return wireList(content)
    .map((piece) => wireText(wireObject(piece).text))
    .join('')
}
