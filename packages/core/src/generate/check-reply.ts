import { ProviderError } from '../errors/provider-error.js'
import { SluiceError } from '../errors/sluice-error.js'
import { wellFormedText } from '../internal/well-formed-text.js'
import type { AssistantPart } from '../messages/message.js'
import type { Usage } from '../messages/usage.js'
import type { ModelReply } from '../providers/model-provider.js'
import type { ModelTarget } from './call-plan.js'
import type { Limits } from './settings.js'

/**
 * A reply as the loop relies on it: within its bounds, in the shape of the adapter contract, its texts well-formed (an
 * unpaired surrogate would lose the turn at the store). Returns the reply itself where nothing had to be changed.
 *
 * @throws PROVIDER_RESPONSE_ERROR for what is no reply, LIMIT_EXCEEDED beyond the bounds
 */
export function checkReply(target: ModelTarget, reply: ModelReply, limits: Limits): ModelReply {
  const fault = faultOf(reply)
  if (fault !== undefined) throw unusable(target, fault, usageOf(reply))
  let units = 0
  let calls = 0
  for (const part of reply.parts) {
    if (part.type === 'tool_call') {
      calls += 1
      units += part.args.length
    } else if (part.type !== 'file') units += part.text.length
  }
  if (units > limits.replyBytes) throw replyTooLarge(target, units, limits.replyBytes)
  if (calls > limits.toolCallsPerReply) throw tooManyCalls(target, calls, limits.toolCallsPerReply)
  return wellFormed(reply)
}

/** Usage that an unusable reply reported all the same. */
export function usageOf(reply: unknown): Usage | undefined {
  const usage = (reply as Partial<ModelReply> | null | undefined)?.usage
  return usageFault(usage) === undefined ? usage : undefined
}

/** What makes a value no reply; `undefined` where it is one. */
function faultOf(reply: unknown): string | undefined {
  if (reply === null || typeof reply !== 'object') return 'it gave no reply'
  const { parts, finishReason, usage } = reply as Partial<Record<keyof ModelReply, unknown>>
  if (!Array.isArray(parts)) return '`parts` is no list'
  for (let index = 0; index < parts.length; index++) {
    const fault = partFault(parts[index])
    if (fault !== undefined) return `part ${index} ${fault}`
  }
  return typeof finishReason === 'string' ? usageFault(usage) : '`finishReason` is missing'
}

function partFault(part: unknown): string | undefined {
  if (part === null || typeof part !== 'object') return 'is no object'
  const { type, text, toolCallId, toolName, args, data } = part as Readonly<Record<string, unknown>>
  if (type === 'tool_call')
    return typeof toolCallId === 'string' && typeof toolName === 'string' && typeof args === 'string'
      ? undefined
      : 'is a tool call whose id, name and arguments are not all text'
  if (type === 'file') return typeof data === 'string' ? undefined : 'is a file without data'
  return typeof text === 'string' ? undefined : 'has no text'
}

const CLASSES = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const

function usageFault(usage: unknown): string | undefined {
  if (usage === null || typeof usage !== 'object') return '`usage` is missing'
  const given = usage as Readonly<Record<string, unknown>>
  for (const name of CLASSES) {
    const value = given[name]
    if (value !== null && !(Number.isFinite(value) && (value as number) >= 0))
      return `\`usage.${name}\` is neither null nor a number of at least 0`
  }
  return Number.isFinite(given.unreportedCalls) ? undefined : '`usage.unreportedCalls` is no number'
}

function wellFormed(reply: ModelReply): ModelReply {
  let parts: AssistantPart[] | undefined
  for (let index = 0; index < reply.parts.length; index++) {
    const part = reply.parts[index] as AssistantPart
    const sound = wellFormedPart(part)
    if (sound === part) continue
    parts ??= [...reply.parts]
    parts[index] = sound
  }
  const finishReason = wellFormedText(reply.finishReason)
  const model = reply.model === undefined ? undefined : wellFormedText(reply.model)
  if (parts === undefined && finishReason === reply.finishReason && model === reply.model) return reply
  return { ...reply, parts: parts ?? reply.parts, finishReason, ...(model === undefined ? {} : { model }) }
}

const TEXTS = ['text', 'toolCallId', 'toolName', 'args', 'data'] as const

function wellFormedPart(part: AssistantPart): AssistantPart {
  let copy: Record<string, unknown> | undefined
  for (const name of TEXTS) {
    const value = (part as unknown as Readonly<Record<string, unknown>>)[name]
    if (typeof value !== 'string') continue
    const sound = wellFormedText(value)
    if (sound !== value) (copy ??= { ...part })[name] = sound
  }
  return (copy as AssistantPart | undefined) ?? part
}

function unusable(target: ModelTarget, fault: string, usage: Usage | undefined): ProviderError {
  return new ProviderError(
    'PROVIDER_RESPONSE_ERROR',
    `The adapter of ${target.provider.id} gave an unusable reply: ${fault}.`,
    {
      provider: target.provider.id,
      model: target.model,
      sent: 'yes',
      partial: { parts: [], usage: usage ?? null },
    },
  )
}

/** A reply, or what has arrived of it, is longer than its bound. */
export function replyTooLarge(target: ModelTarget, units: number, bound: number): SluiceError {
  return new SluiceError(
    'LIMIT_EXCEEDED',
    `A reply of ${target.provider.id}/${target.model} is longer than ${bound} bytes.`,
    {
      hint: 'Lower maxOutputTokens, or raise limits.replyBytes.',
      details: { limit: 'replyBytes', bound, units },
    },
  )
}

function tooManyCalls(target: ModelTarget, calls: number, bound: number): SluiceError {
  return new SluiceError(
    'LIMIT_EXCEEDED',
    `A reply of ${target.provider.id}/${target.model} asks for ${calls} tool calls; at most ${bound} are taken.`,
    {
      hint: 'Raise limits.toolCallsPerReply, or ask the model for fewer.',
      details: { limit: 'toolCallsPerReply', bound, calls },
    },
  )
}
