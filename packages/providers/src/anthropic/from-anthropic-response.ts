import type { AssistantPart, JsonObject } from '@sluice/core'
import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import { finishReasonOf } from '../shared/finish-reason.js'
import { ReplyFault, usableReply } from '../shared/reply-fault.js'
import type { UsageReading } from '../shared/usage-classes.js'
import { NOT_REPORTED } from '../shared/usage-classes.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireCount, wireList, wireName, wireObject, wireText } from '../shared/wire-json.js'
import type { Reading, WireReply } from '../shared/wire-protocol.js'

/** A whole answer of the Messages API. */
export function fromAnthropicResponse(body: unknown, reading: Reading): WireReply {
  const message = usableReply(body)
  if (!Array.isArray(message.content)) throw new ReplyFault('the answer has no list of content blocks')
  return fromBlocks(message, message.content, reading)
}

/** A message whose blocks are these: a stream has put them together. */
export function fromBlocks(message: Wire, blocks: readonly unknown[], reading: Reading): WireReply {
  const parts = partsOf(blocks, reading)
  const raw = wireName(message.stop_reason)
  const refusal = refusalText(message)
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal })
  const model = wireName(message.model)
  const responseId = wireName(message.id)
  return {
    parts,
    finishReason: finishReasonOf(ANTHROPIC_MESSAGES.finishReasons, raw, parts),
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    ...anthropicUsage(message.usage),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
  }
}

/** Why the provider refused, where it says so: such a reply often has no content of its own. */
function refusalText(message: Wire): string | undefined {
  return message.stop_reason === 'refusal' ? wireName(wireObject(message.stop_details).explanation) : undefined
}

/** The classes are disjoint already, and there is no total to compare them with. */
export function anthropicUsage(usage: unknown): UsageReading {
  if (!isWire(usage)) return NOT_REPORTED
  const inputTokens = wireCount(usage.input_tokens)
  const outputTokens = wireCount(usage.output_tokens)
  if (inputTokens === null && outputTokens === null) return NOT_REPORTED
  return {
    usage: {
      inputTokens,
      cacheReadTokens: wireCount(usage.cache_read_input_tokens),
      cacheWriteTokens: wireCount(usage.cache_creation_input_tokens),
      outputTokens,
      reasoningTokens: wireCount(wireObject(usage.output_tokens_details).thinking_tokens),
      unreportedCalls: 0,
    },
  }
}

/** Content blocks as neutral parts, in their order. Blocks that are not known are kept as hosted, so that they can go back. */
export function partsOf(blocks: readonly unknown[], reading: Reading): AssistantPart[] {
  const parts: AssistantPart[] = []
  for (const block of blocks) {
    const part = isWire(block) ? partOf(block, reading) : undefined
    if (part !== undefined) parts.push(part)
  }
  return parts
}

function partOf(block: Wire, { providerId, ids }: Reading): AssistantPart | undefined {
  const own = (options: Wire) => ({ providerOptions: { [providerId]: options as JsonObject } })
  switch (block.type) {
    case 'text': {
      const citations = citationsToKeep(block.citations)
      const text = wireText(block.text)
      if (text === '') return undefined
      return citations.length === 0 ? { type: 'text', text } : { type: 'text', text, ...own({ citations }) }
    }
    case 'thinking': {
      const signature = wireName(block.signature)
      const part = { type: 'reasoning' as const, text: wireText(block.thinking) }
      return signature === undefined ? part : { ...part, ...own({ signature }) }
    }
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', ...own({ redacted: wireText(block.data) }) }
    case 'tool_use': {
      const caller = wireObject(block.caller)
      return {
        type: 'tool_call',
        toolCallId: ids.claim(block.id),
        toolName: wireText(block.name),
        args: argumentsOf(block),
        ...(wireName(caller.type) === undefined || caller.type === 'direct' ? {} : own({ caller })),
      }
    }
    default:
      return { type: 'hosted', toolName: hostedName(block), text: hostedText(block), ...own({ block }) }
  }
}

/** A stream leaves the arguments as text, exactly as they came; a whole answer has them parsed. */
function argumentsOf(block: Wire): string {
  if (typeof block.input === 'string') return block.input
  return JSON.stringify(block.input ?? {})
}

function hostedName(block: Wire): string {
  return wireName(block.name) ?? wireText(block.type).replace(/_tool_result$/, '')
}

function hostedText(block: Wire): string {
  const query = wireName(wireObject(block.input).query) ?? wireName(wireObject(block.input).url)
  return query === undefined ? wireText(block.type) : `${wireText(block.type)} ${query}`
}

/** The citations of a text, without the member that only answers have. */
function citationsToKeep(citations: unknown): JsonObject[] {
  return wireList(citations)
    .filter(isWire)
    .map(({ file_id: _fileId, ...citation }) => citation as JsonObject)
}
