import { SluiceError } from '../errors/sluice-error.js'
import { frozenJson } from '../internal/frozen-json.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { AssistantMessage, AssistantPart, Message, ToolCallPart, ToolResultPart } from '../messages/message.js'
import type { Usage } from '../messages/usage.js'
import type { Landing } from './build-request.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { emit, listening } from './emit.js'
import { callsOf, finishReply, withUniqueIds } from './finish-reply.js'
import type { FinishedReply } from './finish-reply.js'
import { callModel } from './model-call.js'
import type { OpenReply } from './model-call.js'
import { RESULT_TEXT } from './round-call.js'
import { endRefused } from './refused-reply.js'
import { runRound } from './tool-round.js'
import type { RoundResult } from './tool-round.js'

/** What one `generateText` call came to (G-7). */
export interface CallResultOf {
  /** Text of the final reply; `null` where it holds none. */
  readonly text: string | null
  readonly output: JsonValue | undefined
  readonly messages: readonly Message[]
  readonly finishReason: FinishReason
  readonly usage: Usage
  /** Calls that got a result. */
  readonly toolCallsCount: number
  /** The model that answered, as the provider names it; else the one asked for. */
  readonly model: string
  readonly provider: string
}

/** Where the messages of closed rounds go: the log of a top-level run, or nowhere. */
export interface RoundRecorder {
  /** A round is closed: what the conversation has got since the last time is recorded. */
  closeRound(call: CallScope): Promise<void>
}

/**
 * The model and tool loop, written once over the parts of a reply: a plain call gives all parts at once, a stream gave
 * deltas before. Ends with an answer without tool calls, at a bound, by a landing, or by throwing.
 */
export async function generateCall(
  call: CallScope,
  plan: CallPlan,
  recorder: RoundRecorder | undefined,
): Promise<CallResultOf> {
  let landing: Landing | undefined
  let refusals = 0
  for (let round = 1; ; round++) {
    const outcome = await callModel(call, plan, round, landing)
    if (outcome.kind === 'land') {
      landing = outcome.landing
      continue
    }
    const reply = await finishOrKeep(call, plan, outcome)
    if (reply.refused !== undefined) {
      refusals += 1
      withhold(call, outcome, reply.parts)
      // a landing has one last request, and no second one
      if (refusals > 1 || landing !== undefined) throw await endRefused(call, reply.refused, refusals > 1)
      answerRefused(call, reply.refused)
      await recorder?.closeRound(call)
      continue
    }
    refusals = 0
    call.add(assistantMessage(call, outcome, reply.parts))
    if (reply.calls.length === 0 || landing !== undefined) {
      if (reply.calls.length > 0) call.add(notRun(reply.calls))
      await recorder?.closeRound(call)
      return await complete(call, plan, outcome, reply, landing === undefined ? outcome.reply.finishReason : 'landed')
    }
    call.answeredBy = outcome.target.provider
    const { skipped, ended } = await runTools(call, plan, reply)
    await recorder?.closeRound(call)
    if (ended) return await complete(call, plan, outcome, reply, 'ended_by_tool')
    if (skipped > 0) {
      if (limitPolicy(plan, outcome) === 'throw') throw limitError(plan)
      return await complete(call, plan, outcome, reply, 'max_tool_calls_exceeded')
    }
  }
}

/** Runs the tools of a reply; the tool message is in the conversation whatever happens, so that the history stays valid. */
async function runTools(call: CallScope, plan: CallPlan, reply: FinishedReply): Promise<RoundResult> {
  const results: ToolResultPart[] = []
  try {
    return await runRound(call, plan, reply.calls, results)
  } finally {
    call.add({ role: 'tool', content: results })
  }
}

function assistantMessage(call: CallScope, open: OpenReply, parts: readonly AssistantPart[]): AssistantMessage {
  return {
    role: 'assistant',
    content: parts,
    provider: open.target.provider.id,
    model: open.reply.model ?? open.target.model,
    ...(call.labels.length === 0 ? {} : { labels: call.labels }),
  }
}

/**
 * A reply that came and with which the call ends belongs to what the call has got to (S-22). Where `inspectReply` is tapped
 * it has not passed there, so it is kept in the record and shown to nobody.
 */
async function finishOrKeep(call: CallScope, plan: CallPlan, open: OpenReply): Promise<FinishedReply> {
  const parts = withUniqueIds(call, open.reply.parts)
  try {
    return await finishReply(call, plan, open, parts)
  } catch (error) {
    if (open.stop !== undefined || call.hookSet.gates.inspectReply.length > 0) withhold(call, open, parts)
    else addUnrun(call, open, parts)
    throw error
  }
}

/** A reply that is kept in the record and shown to nobody; none of its calls ran. */
function withhold(call: CallScope, open: OpenReply, parts: readonly AssistantPart[]): void {
  const from = call.messages.length
  addUnrun(call, open, parts)
  for (let index = from; index < call.messages.length; index++) call.withheld.add(call.messages[index] as Message)
}

function addUnrun(call: CallScope, open: OpenReply, parts: readonly AssistantPart[]): void {
  call.add(assistantMessage(call, open, parts))
  const calls = callsOf(parts)
  if (calls.length > 0) call.add(notRun(calls))
}

/** What the model is told of its reply that was refused. */
function answerRefused(call: CallScope, refused: { readonly text: string }): void {
  const text: Message = { role: 'user', content: [{ type: 'text', text: refused.text }] }
  call.add(text)
  call.withheld.add(text)
}

function notRun(calls: readonly ToolCallPart[]): Message {
  return {
    role: 'tool',
    content: calls.map((part) => ({
      type: 'tool_result',
      toolCallId: part.toolCallId,
      toolName: part.toolName,
      result: RESULT_TEXT.notRun,
      status: 'not_run',
    })),
  }
}

function limitPolicy(plan: CallPlan, open: OpenReply): 'throw' | 'finish' {
  return plan.settings.onToolLimit === 'provider'
    ? open.target.provider.defaults.onToolLimit
    : plan.settings.onToolLimit
}

function limitError(plan: CallPlan): SluiceError {
  const { maxToolCalls } = plan.settings
  return new SluiceError(
    'MAX_TOOL_CALLS',
    `The model asked for more than ${maxToolCalls} tool calls in one call; the calls beyond were not run.`,
    {
      details: { maxToolCalls },
      hint: "Raise maxToolCalls, or set onToolLimit: 'finish' to end with what there is.",
    },
  )
}

async function complete(
  call: CallScope,
  plan: CallPlan,
  open: OpenReply,
  reply: FinishedReply,
  finishReason: FinishReason,
): Promise<CallResultOf> {
  const result: CallResultOf = {
    text: reply.text,
    output: reply.output,
    messages: call.shown(),
    finishReason,
    usage: call.usage,
    toolCallsCount: call.toolCalls,
    model: open.reply.model ?? open.target.model,
    provider: open.target.provider.id,
  }
  const told = call.steps.recorded('complete') !== 'nothing'
  await call.steps.begin('complete', null as JsonValue)
  if (!told && listening(call, 'response_complete')) {
    const sent = emit(
      call,
      'response_complete',
      frozenJson({
        finalMessage: result.text,
        finishReason,
        usage: result.usage,
        toolCallsCount: result.toolCallsCount,
        model: result.model,
        provider: result.provider,
        messages: result.messages,
        ...(plan.output === undefined ? {} : { structuredOutput: result.output ?? null }),
      }) as unknown as JsonObject,
    )
    if (sent !== undefined) await sent
  }
  return result
}
