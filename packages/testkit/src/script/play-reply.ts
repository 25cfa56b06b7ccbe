import type { AssistantPart, ModelReply, ModelRequest, StreamPart } from '@sluice/core'
import { ProviderError } from '@sluice/core'
import type { ProviderRow } from './provider-rows.js'
import type { ScriptedPart, ScriptedReply, StreamShape } from './scripted-reply.js'
import { defaultFinishReason, toToolCallPart } from './scripted-reply.js'
import { untilAborted } from './until-aborted.js'

/** What a reply needs to know of the provider and the call that plays it. */
export interface Playing {
  readonly provider: string
  readonly row: ProviderRow | undefined
  readonly request: ModelRequest
  readonly signal: AbortSignal
  freshId(): string
}

type Delta = Exclude<StreamPart, { readonly type: 'reply' }>

const CHUNK_LENGTH = 16

/** The whole reply, with ids drawn and defaults filled in. */
export function toModelReply(step: ScriptedReply, playing: Playing): ModelReply {
  const { parts, usage, extras } = step.state
  const finishReason = step.state.finishReason ?? defaultFinishReason(parts)
  const words = playing.row?.finishReasons
  const rawFinishReason = words !== undefined && Object.hasOwn(words, finishReason) ? words[finishReason] : finishReason
  return Object.freeze({
    parts: Object.freeze(parts.map((part) => toPart(part, playing))),
    finishReason,
    rawFinishReason: rawFinishReason ?? finishReason,
    usage,
    model: playing.request.model,
    ...extras,
  })
}

function toPart(part: ScriptedPart, playing: Playing): AssistantPart {
  return part.type === 'scripted_tool_call' ? toToolCallPart(part, () => playing.freshId()) : part
}

/** Plays a reply as a whole: it waits, hangs and breaks where its stream would. */
export async function playWhole(step: ScriptedReply, playing: Playing): Promise<ModelReply> {
  const { stream } = step.state
  if (stream.holdAfter !== undefined) await stream.holdAfter.latch.wait(playing.signal)
  if (stream.hangAfter !== undefined) await untilAborted(playing.signal)
  if (stream.breakAfter !== undefined) {
    throw (
      stream.breakWith ??
      new ProviderError('PROVIDER_UNREACHABLE', 'The connection broke before the reply was complete (scripted).', {
        provider: playing.provider,
        model: playing.request.model,
        sent: 'yes',
      })
    )
  }
  return toModelReply(step, playing)
}

/** Plays a reply as a stream: its deltas, then the reply. */
export async function* playStream(step: ScriptedReply, playing: Playing): AsyncGenerator<StreamPart, void, undefined> {
  const shape = step.state.stream
  const reply = toModelReply(step, playing)
  const deltas = toDeltas(reply.parts, shape.chunkLength ?? CHUNK_LENGTH)
  for (let delivered = 0; delivered <= deltas.length; delivered++) {
    const last = delivered === deltas.length
    if (shape.holdAfter !== undefined && reaches(shape.holdAfter.deltas, delivered, last)) {
      await shape.holdAfter.latch.wait(playing.signal)
    }
    if (reaches(shape.hangAfter, delivered, last)) await untilAborted(playing.signal)
    if (reaches(shape.breakAfter, delivered, last)) throw breakOf(shape, deltas.slice(0, delivered), reply, playing)
    playing.signal.throwIfAborted()
    const delta = deltas[delivered]
    if (delta !== undefined) yield delta
  }
  yield { type: 'reply', reply }
}

/** True at delta `after`, and after the last one where there are not so many. */
function reaches(after: number | undefined, delivered: number, last: boolean): boolean {
  return after !== undefined && (delivered === after || (last && after > delivered))
}

function breakOf(shape: StreamShape, delivered: readonly Delta[], reply: ModelReply, playing: Playing): Error {
  if (shape.breakWith !== undefined) return shape.breakWith
  return new ProviderError('PROVIDER_STREAM_BROKEN', `The stream broke after ${delivered.length} deltas (scripted).`, {
    provider: playing.provider,
    model: playing.request.model,
    sent: 'yes',
    partial: {
      parts: fromDeltas(delivered),
      usage: shape.usageBeforeBreak === true ? reply.usage : null,
      ...(reply.model === undefined ? {} : { model: reply.model }),
    },
  })
}

function toDeltas(parts: readonly AssistantPart[], chunkLength: number): readonly Delta[] {
  const deltas: Delta[] = []
  let index = 0
  for (const part of parts) {
    if (part.type === 'text') {
      for (const text of chunks(part.text, chunkLength)) deltas.push({ type: 'text_delta', text })
    } else if (part.type === 'reasoning') {
      for (const text of chunks(part.text, chunkLength)) deltas.push({ type: 'reasoning_delta', text })
    } else if (part.type === 'tool_call') {
      const head = part.toolCallId === '' ? {} : { toolCallId: part.toolCallId }
      deltas.push({ type: 'tool_call_delta', index, ...head, toolName: part.toolName, argsDelta: '' })
      for (const argsDelta of chunks(part.args, chunkLength)) deltas.push({ type: 'tool_call_delta', index, argsDelta })
      index += 1
    }
  }
  return deltas
}

/** The parts as far as the deltas tell them. */
function fromDeltas(deltas: readonly Delta[]): readonly AssistantPart[] {
  const parts: AssistantPart[] = []
  let open = -1
  for (const delta of deltas) {
    const last = parts.at(-1)
    if (delta.type === 'tool_call_delta') {
      if (delta.index !== open || last?.type !== 'tool_call') {
        open = delta.index
        parts.push({
          type: 'tool_call',
          toolCallId: delta.toolCallId ?? '',
          toolName: delta.toolName ?? '',
          args: delta.argsDelta,
        })
      } else {
        parts[parts.length - 1] = { ...last, args: last.args + delta.argsDelta }
      }
      continue
    }
    const type = delta.type === 'text_delta' ? 'text' : 'reasoning'
    if (last?.type === type) parts[parts.length - 1] = { ...last, text: last.text + delta.text }
    else parts.push({ type, text: delta.text })
  }
  return parts
}

function* chunks(text: string, length: number): Generator<string> {
  const size = Math.max(1, Math.floor(length))
  for (let from = 0; from < text.length; ) {
    let to = from + size
    // a pair of surrogates stays together: no adapter yields half a character
    const unit = text.charCodeAt(to - 1)
    if (unit >= 0xd800 && unit <= 0xdbff) to += 1
    yield text.slice(from, to)
    from = to
  }
}
