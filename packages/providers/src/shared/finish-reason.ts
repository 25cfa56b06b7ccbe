import type { AssistantPart, FinishReason } from '@sluice/core'
import type { ProtocolBehaviour } from '../behaviour/protocol-behaviour.js'

/**
 * Why a reply ended, in our words (G-14): the provider's word by its table, else passed through. Where the word says no
 * more than `stop`, or there is none, the parts decide: several servers say `stop` beside tool calls.
 */
export function finishReasonOf(
  words: ProtocolBehaviour['finishReasons'],
  raw: string | undefined,
  parts: readonly AssistantPart[],
): FinishReason {
  const reason = raw === undefined ? 'stop' : Object.hasOwn(words, raw) ? (words[raw] as FinishReason) : raw
  if (reason !== 'stop') return reason
  if (parts.some((part) => part.type === 'tool_call')) return 'tool_calls'
  return parts.some((part) => part.type === 'refusal') ? 'refusal' : 'stop'
}
