import type { AssistantPart, JsonObject } from '@sluice/core'
import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import { finishReasonOf } from '../shared/finish-reason.js'
import { ReplyFault, usableReply } from '../shared/reply-fault.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject } from '../shared/wire-json.js'
import type { Reading, WireReply } from '../shared/wire-protocol.js'
import { GoogleParts } from './google-parts.js'
import { googleUsage } from './google-usage.js'

/** A whole answer of generateContent. A prompt that was blocked is answered without a candidate. */
export function fromGoogleResponse(body: unknown, reading: Reading): WireReply {
  const answer = usableReply(body)
  const candidate = wireList(answer.candidates)[0]
  if (!isWire(candidate) && blockReason(answer) === undefined) throw new ReplyFault('the answer has no candidate')
  const parts = new GoogleParts(reading)
  for (const part of contentParts(candidate)) parts.add(part, [])
  return fromCandidate(answer, wireObject(candidate), parts.parts(), reading)
}

/** The reply of an answer whose candidate is this, with these parts: a stream has put them together. */
export function fromCandidate(
  answer: Wire,
  candidate: Wire,
  content: readonly AssistantPart[],
  { providerId }: Reading,
): WireReply {
  const blocked = blockReason(answer)
  const raw = blocked ?? wireName(candidate.finishReason)
  const finish = blocked === undefined ? finishReasonOf(WORDS, raw, content) : 'content_filter'
  const refusal = finish === 'content_filter' ? refusalText(answer, candidate) : undefined
  const model = wireName(answer.modelVersion)
  const responseId = wireName(answer.responseId)
  return {
    parts: [
      ...content,
      ...sourcesOf(candidate, providerId),
      ...(refusal === undefined ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ],
    finishReason: finish,
    ...(raw === undefined ? {} : { rawFinishReason: raw }),
    ...googleUsage(answer.usageMetadata),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
  }
}

const WORDS = GOOGLE_GENERATE_CONTENT.finishReasons

/** The parts of a candidate's content; filtered and empty ones have none. */
export function contentParts(candidate: unknown): readonly Wire[] {
  return wireList(wireObject(wireObject(candidate).content).parts).filter(isWire)
}

/** Why the prompt was refused before any model saw it. */
export function blockReason(answer: Wire): string | undefined {
  return wireName(wireObject(answer.promptFeedback).blockReason)
}

function refusalText(answer: Wire, candidate: Wire): string | undefined {
  return wireName(wireObject(answer.promptFeedback).blockReasonMessage) ?? wireName(candidate.finishMessage)
}

/** What tools at the provider found stands beside the content: it is kept for who reads it, and does not go back. */
function sourcesOf(candidate: Wire, providerId: string): AssistantPart[] {
  const { groundingMetadata, urlContextMetadata } = candidate
  const own = (options: Wire) => ({ providerOptions: { [providerId]: options as JsonObject } })
  const parts: AssistantPart[] = []
  if (isWire(groundingMetadata) && Object.keys(groundingMetadata).length > 0) {
    const queries = wireList(groundingMetadata.webSearchQueries).filter((query) => typeof query === 'string')
    const text = queries.length === 0 ? 'grounding' : queries.join(', ')
    parts.push({ type: 'hosted', toolName: 'google_search', text, ...own({ groundingMetadata }) })
  }
  if (isWire(urlContextMetadata) && Object.keys(urlContextMetadata).length > 0) {
    const urls = wireList(urlContextMetadata.urlMetadata).map((each) => wireName(wireObject(each).retrievedUrl))
    const text = urls.filter((url) => url !== undefined).join(', ') || 'url context'
    parts.push({ type: 'hosted', toolName: 'url_context', text, ...own({ urlContextMetadata }) })
  }
  return parts
}
