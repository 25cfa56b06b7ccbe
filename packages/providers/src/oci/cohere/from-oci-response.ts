import type { AssistantPart, JsonObject } from '@sluice/core'
import { OCI_COHERE } from '../../behaviour/oci-behaviour.js'
import { finishReasonOf } from '../../shared/finish-reason.js'
import { errorInReply, ReplyFault, usableReply } from '../../shared/reply-fault.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList, wireName, wireText } from '../../shared/wire-json.js'
import type { Reading, WireReply } from '../../shared/wire-protocol.js'
import { ociUsage } from '../oci-usage.js'

/** A whole answer of a model of Cohere. */
export function fromOciCohereResponse(body: unknown, reading: Reading): WireReply {
  const result = usableReply(body)
  if (!isWire(result.chatResponse)) throw new ReplyFault('the answer has no chat response')
  return fromChat(result.chatResponse, result.modelId, reading)
}

/** The reply of a chat response: a stream has put it together. @throws ReplyFault where the model failed */
export function fromChat(chat: Wire, modelId: unknown, reading: Reading): WireReply {
  refuseFailure(chat)
  const parts = partsOf(chat, reading)
  const raw = wireName(chat.finishReason)
  const model = wireName(modelId)
  return {
    parts,
    finishReason: finishReasonOf(OCI_COHERE.finishReasons, raw, parts),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    ...ociUsage(chat.usage),
    ...(model === undefined ? {} : { model }),
  }
}

/** A reply that could not be made says so in its finish reason. */
export function refuseFailure(chat: Wire): void {
  if (chat.finishReason !== 'ERROR') return
  throw errorInReply({ type: 'ERROR', message: wireName(chat.errorMessage) ?? 'the model failed' })
}

/** A chat response as neutral parts: its text with its citations, and its calls, which have no ids of their own. */
export function partsOf(chat: Wire, { providerId, ids }: Reading): AssistantPart[] {
  const parts: AssistantPart[] = []
  const text = wireText(chat.text)
  const citations = wireList(chat.citations).filter(isWire) as JsonObject[]
  if (text !== '') {
    const own = citations.length === 0 ? {} : { providerOptions: { [providerId]: { citations } } }
    parts.push({ type: 'text', text, ...own })
  }
  for (const call of wireList(chat.toolCalls)) {
    if (!isWire(call)) continue
    const { id, name, parameters } = call
    parts.push({
      type: 'tool_call',
      toolCallId: ids.claim(id),
      toolName: wireText(name),
      args: JSON.stringify(parameters ?? {}),
    })
  }
  return parts
}
