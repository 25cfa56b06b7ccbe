import { ProviderError } from '../errors/provider-error.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { EventTypeName } from '../events/run-event.js'
import type { JsonObject } from '../internal/json.js'
import type { ModelReply, ModelRequest, StreamPart } from '../providers/model-provider.js'
import type { CallPlan, ModelTarget } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { emit } from './emit.js'

/** Sends the request and gives back the whole reply; on a stream the deltas go out on the way. */
export async function receiveReply(
  call: CallScope,
  plan: CallPlan,
  target: ModelTarget,
  request: ModelRequest,
  signal: AbortSignal,
  onDelta: () => void,
): Promise<ModelReply> {
  const reply = plan.stream
    ? await readStream(call, target, request, signal, onDelta)
    : await target.provider.generate(request, signal)
  checkReply(call, target, reply)
  return reply
}

async function readStream(
  call: CallScope,
  target: ModelTarget,
  request: ModelRequest,
  signal: AbortSignal,
  onDelta: () => void,
): Promise<ModelReply> {
  const live = call.tree.options.sink?.live === true
  let reply: ModelReply | undefined
  let units = 0
  for await (const part of target.provider.stream(request, signal)) {
    if (part.type === 'reply') {
      reply = part.reply
      continue
    }
    units += part.type === 'tool_call_delta' ? part.argsDelta.length : part.text.length
    if (units > call.tree.limits.replyBytes) throw tooLarge(call, target, units)
    if (live && !signal.aborted) {
      onDelta()
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

/** Bounds of a reply, and the promises of the adapter contract that the loop relies on. */
function checkReply(call: CallScope, target: ModelTarget, reply: ModelReply): void {
  const { limits } = call.tree
  let units = 0
  let calls = 0
  for (const part of reply.parts) {
    if (part.type === 'tool_call') {
      calls += 1
      units += part.args.length
    } else if (part.type !== 'file') units += part.text.length
  }
  if (units > limits.replyBytes) throw tooLarge(call, target, units)
  if (calls > limits.toolCallsPerReply) {
    throw new SluiceError(
      'LIMIT_EXCEEDED',
      `A reply of ${target.provider.id}/${target.model} asks for ${calls} tool calls; at most ${limits.toolCallsPerReply} are taken.`,
      {
        hint: 'Raise limits.toolCallsPerReply, or ask the model for fewer.',
        details: { limit: 'toolCallsPerReply', bound: limits.toolCallsPerReply, calls },
      },
    )
  }
}

function tooLarge(call: CallScope, target: ModelTarget, units: number): SluiceError {
  return new SluiceError(
    'LIMIT_EXCEEDED',
    `A reply of ${target.provider.id}/${target.model} is longer than ${call.tree.limits.replyBytes} bytes.`,
    {
      hint: 'Lower maxOutputTokens, or raise limits.replyBytes.',
      details: { limit: 'replyBytes', bound: call.tree.limits.replyBytes, units },
    },
  )
}
