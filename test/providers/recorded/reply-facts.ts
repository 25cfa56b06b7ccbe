import type { AssistantPart, ModelReply } from '@sluice/core'

/** What must be understood of a reply, in a form that both the adapter's reply and the raw recording can be brought to. */
export interface ReplyFacts {
  readonly text: string
  readonly refusal: string
  /** Readable reasoning, one entry for each block that has any. */
  readonly reasoning: readonly string[]
  /** Signatures, redacted blocks and encrypted contents that have to go back. */
  readonly opaque: readonly string[]
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args: string }>
  /** Types of blocks and items of tools that ran at the provider. */
  readonly hosted: readonly string[]
  readonly finishReason: string
  readonly model: string | undefined
  readonly responseId: string | undefined
  /** Fresh, cache read, cache write, output, reasoning; `undefined` where nothing was reported. */
  readonly usage: ReadonlyArray<number | null> | undefined
}

/** Arguments compare by their value where they are JSON, else by their text. */
export function argsOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

/** The facts of an adapter's reply. */
export function factsOf(reply: ModelReply, providerId: string): ReplyFacts {
  const texts = (type: AssistantPart['type']) =>
    reply.parts.flatMap((part) => (part.type === type && 'text' in part ? [part.text] : []))
  const { usage } = reply
  return {
    text: texts('text').join(''),
    refusal: texts('refusal').join(''),
    reasoning: texts('reasoning').filter((text) => text !== ''),
    opaque: reply.parts.flatMap((part) => opaqueOf(part, providerId)),
    calls: reply.parts.flatMap((part) =>
      part.type === 'tool_call' ? [{ id: part.toolCallId, name: part.toolName, args: argsOf(part.args) }] : [],
    ),
    hosted: reply.parts.flatMap((part) => (part.type === 'hosted' ? [hostedType(part, providerId)] : [])),
    finishReason: reply.finishReason,
    model: reply.model,
    responseId: reply.responseId,
    usage:
      usage.unreportedCalls > 0
        ? undefined
        : [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, usage.outputTokens, usage.reasoningTokens],
  }
}

function opaqueOf(part: AssistantPart, providerId: string): string[] {
  const own: any = part.providerOptions?.[providerId] ?? {}
  const signed = [own, ...(own.pieces ?? []), own.part ?? {}].flatMap((piece: any) => piece.thoughtSignature ?? [])
  if (part.type !== 'reasoning' || signed.length > 0) return signed
  const details = (own.details ?? []).map((detail: any) => detail.signature ?? detail.data)
  return [own.signature, own.redacted, own.reasoning?.encrypted_content, ...details].filter(
    (value) => typeof value === 'string',
  )
}

function hostedType(part: AssistantPart, providerId: string): string {
  const own: any = part.providerOptions?.[providerId]
  return own.part === undefined ? (own.item ?? own.block).type : (Object.keys(own.part)[0] as string)
}
