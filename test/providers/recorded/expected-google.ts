import type { RecordedResponse } from '@sluice/testkit'
import type { Raw } from './raw-json.js'
import { rawEvents } from './raw-json.js'
import type { ReplyFacts } from './reply-facts.js'
import { argsOf } from './reply-facts.js'

const FINISH: Record<string, string> = { MAX_TOKENS: 'length', SAFETY: 'content_filter' }

/**
 * What a recorded answer of generateContent says. Calls without an id have one by their place in the conversation, so the
 * request is counted too.
 */
export function expectedFromGoogle(recorded: RecordedResponse, request: unknown): ReplyFacts {
  const answers = recorded.bodyText === undefined ? [recorded.body as Raw] : rawEvents(recorded.bodyText)
  const candidates = answers.flatMap((answer) => (answer.candidates ?? []) as Raw[])
  const parts = candidates.flatMap((candidate) => (candidate.content?.parts ?? []) as Raw[])
  const last = answers.at(-1) as Raw
  const blocked = answers.find((answer) => answer.promptFeedback?.blockReason)?.promptFeedback
  const calls = callsOf(parts, callsBefore(request))
  const finish = candidates.findLast((candidate) => candidate.finishReason)?.finishReason
  return {
    text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
    refusal: blocked?.blockReasonMessage ?? '',
    reasoning: thoughtsOf(parts),
    opaque: parts.flatMap((part) => part.thoughtSignature ?? []),
    calls,
    hosted: parts.flatMap((part) =>
      Object.keys(part).filter((key) => /^(executableCode|codeExecutionResult)$/.test(key)),
    ),
    finishReason:
      blocked !== undefined ? 'content_filter' : (FINISH[finish] ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    model: last.modelVersion,
    responseId: last.responseId,
    usage: figures(answers.map((answer) => answer.usageMetadata as Raw).filter((usage) => usage?.promptTokenCount)),
  }
}

/** Thoughts that follow each other are one. */
function thoughtsOf(parts: readonly Raw[]): string[] {
  const runs: string[] = []
  parts.forEach((part, index) => {
    if (part.thought !== true) return
    if (parts[index - 1]?.thought === true) runs.push(`${runs.pop()}${part.text}`)
    else runs.push(part.text)
  })
  return runs
}

function callsBefore(request: unknown): number {
  const contents = ((request as Raw | null)?.contents ?? []) as Raw[]
  return contents.flatMap(({ parts }) => parts as Raw[]).filter((part) => part.functionCall !== undefined).length
}

/** A call that is named begins; what follows without a name belongs to it: texts by their path. */
function callsOf(parts: readonly Raw[], before: number): Array<{ id: string; name: string; args: string }> {
  const calls: Array<{ id: string; name: string; args: Raw }> = []
  for (const call of parts.flatMap((part) => (part.functionCall ?? []) as Raw[])) {
    if (call.name !== undefined) {
      calls.push({ id: call.id ?? `tool_call_${before + calls.length + 1}`, name: call.name, args: call.args ?? {} })
    }
    const open = calls.at(-1)?.args as Raw
    for (const { jsonPath, stringValue } of (call.partialArgs ?? []) as Raw[]) {
      const key = jsonPath.replace('$.', '')
      open[key] = (open[key] ?? '') + stringValue
    }
  }
  return calls.map(({ args, ...call }) => ({ ...call, args: argsOf(JSON.stringify(args)) }))
}

/** Cached tokens are inside of the prompt; thoughts, and what tools put into the prompt, stand beside. */
function figures(reports: readonly Raw[]): ReadonlyArray<number | null> | undefined {
  const usage = reports.at(-1)
  if (usage === undefined) return undefined
  const cached = usage.cachedContentTokenCount ?? null
  const fresh = usage.promptTokenCount + (usage.toolUsePromptTokenCount ?? 0) - (cached ?? 0)
  const output = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0)
  return [fresh, cached, null, output, usage.thoughtsTokenCount ?? null]
}
