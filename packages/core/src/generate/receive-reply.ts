import { ProviderError } from '../errors/provider-error.js'
import type { EventTypeName } from '../events/run-event.js'
import type { JsonObject } from '../internal/json.js'
import type { Usage } from '../messages/usage.js'
import type { ModelReply, ModelRequest, StreamPart } from '../providers/model-provider.js'
import type { CallPlan, ModelTarget } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { checkReply, replyTooLarge, usageOf } from './check-reply.js'
import { emit } from './emit.js'

/** What has been seen of a reply while it arrived, for the case that it is of no use. */
export interface SeenOfReply {
  /** Deltas were delivered to a consumer. */
  delivered: boolean
  /** Usage that the reply reported. */
  usage: Usage | undefined
}

/** Sends the request and gives back the whole reply; on a stream the deltas go out on the way. */
export function receiveReply(
  call: CallScope,
  plan: CallPlan,
  target: ModelTarget,
  request: ModelRequest,
  signal: AbortSignal,
  seen: SeenOfReply,
): Promise<ModelReply> {
  const received = plan.stream
    ? readStream(call, target, request, signal, seen)
    : // an adapter is foreign code: what it gives may be anything
      Promise.resolve(target.provider.generate(request, signal))
  return received.then((reply) => {
    seen.usage = usageOf(reply)
    return checkReply(target, reply, call.tree.limits)
  })
}

async function readStream(
  call: CallScope,
  target: ModelTarget,
  request: ModelRequest,
  signal: AbortSignal,
  seen: SeenOfReply,
): Promise<ModelReply> {
  const live = call.run.sink?.live === true
  let reply: ModelReply | undefined
  let units = 0
  for await (const part of target.provider.stream(request, signal)) {
    if (part.type === 'reply') {
      reply = part.reply
      continue
    }
    units += part.type === 'tool_call_delta' ? part.argsDelta.length : part.text.length
    if (units > call.tree.limits.replyBytes) throw replyTooLarge(target, units, call.tree.limits.replyBytes)
    if (live && !signal.aborted) {
      seen.delivered = true
      // deltas are never awaited
      void emit(call, deltaType(part), deltaData(part))
    }
  }
  if (signal.aborted) throw signal.reason
  if (reply === undefined) {
    throw new ProviderError(
      'PROVIDER_STREAM_BROKEN',
      `The stream of ${target.provider.id}/${target.model} ended without a reply.`,
      { provider: target.provider.id, model: target.model, sent: 'yes' },
    )
  }
  return reply
}

function deltaType(part: Exclude<StreamPart, { type: 'reply' }>): EventTypeName {
  return part.type === 'text_delta'
    ? 'assistant_text_delta'
    : part.type === 'reasoning_delta'
      ? 'assistant_reasoning_delta'
      : 'tool_call_delta'
}

function deltaData(part: Exclude<StreamPart, { type: 'reply' }>): JsonObject {
  if (part.type !== 'tool_call_delta') return { text: part.text, checked: false }
  return {
    index: part.index,
    ...(part.toolCallId === undefined ? {} : { toolCallId: part.toolCallId }),
    ...(part.toolName === undefined ? {} : { toolName: part.toolName }),
    argsDelta: part.argsDelta,
    checked: false,
  }
}
