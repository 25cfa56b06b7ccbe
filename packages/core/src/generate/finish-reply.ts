import type { SluiceError } from '../errors/sluice-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Receipt } from '../hooks/receipt.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { frozenJson } from '../internal/frozen-json.js'
import { isThenable } from '../internal/json.js'
import type { JsonObject, JsonValue, MaybePromise } from '../internal/json.js'
import { unionLabels } from '../messages/label.js'
import type { AssistantPart, ToolCallPart } from '../messages/message.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { askPoint, Effect, settleGates } from './effect.js'
import { ReplyGateContext } from './effect-contexts.js'
import { emit, listening } from './emit.js'
import { closeModel, tellRetracted } from './close-model.js'
import type { OpenReply } from './model-call.js'
import type { RefusedReply } from './refused-reply.js'
import { readOutput } from './structured-output.js'

/** A reply as the loop goes on with it. */
export interface FinishedReply {
  readonly parts: readonly AssistantPart[]
  readonly calls: readonly ToolCallPart[]
  /** All text blocks joined by newlines (G-8); `null` where there is none. */
  readonly text: string | null
  readonly output: JsonValue | undefined
  /** Set where `inspectReply` refused it: what the model is told, and who said so (not on a replay). */
  readonly refused: RefusedReply | undefined
}

/**
 * Takes a reply, its ids made unique, to where it is final: structured output read, `inspectReply` asked, the effect closed,
 * its events sent. A reply that was refused comes back with the text for the model; a stop throws.
 */
export async function finishReply(
  call: CallScope,
  plan: CallPlan,
  open: OpenReply,
  parts: readonly AssistantPart[],
): Promise<FinishedReply> {
  if (open.effect === undefined) call.run.check()
  else if (call.run.stops.stopped) await notPassed(call, open, open.effect, open.stop ?? STOPPED_MEANWHILE)
  const calls = callsOf(parts)
  const text = textOf(parts)
  let output: JsonValue | undefined
  if (plan.output !== undefined && calls.length === 0) {
    const read = await outputOf(plan.output.schema, text, open)
    if ('fault' in read) {
      if (open.delivered) void emit(call, 'retracted', { code: 'OUTPUT_INVALID', plugin: null })
      if (open.effect !== undefined)
        await closeModel(call, open.effect, open.facts, { outcome: 'ok', sent: 'yes' }, open.reply).told
      throw read.fault
    }
    output = read.value
  }
  const finished: FinishedReply = { parts, calls, text, output, refused: undefined }
  const refused = await inspect(call, open, finished)
  if (refused !== undefined) return { ...finished, refused }
  noteHosted(call, plan, open, parts)
  if (open.effect !== undefined) await tellParts(call, parts)
  return finished
}

async function outputOf(
  schema: NonNullable<CallPlan['output']>['schema'],
  text: string | null,
  open: OpenReply,
): Promise<{ value: JsonValue | undefined } | { fault: unknown }> {
  const { finishReason } = open.reply
  if (finishReason === 'content_filter' || finishReason === 'refusal') return { value: undefined }
  try {
    return { value: (await readOutput(text, schema)).output as JsonValue }
  } catch (fault) {
    return { fault }
  }
}

async function inspect(call: CallScope, open: OpenReply, finished: FinishedReply): Promise<FinishedReply['refused']> {
  const taps = call.hookSet.gates.inspectReply
  const name = `m${call.requests}.reply`
  if (open.effect === undefined && call.steps.recorded(name) !== 'nothing') {
    const record = (await call.steps.begin(name, null as JsonValue)) as JsonObject | null
    return record === null ? undefined : { code: String(record.code), text: String(record.text) }
  }
  const effect = open.effect ?? again(call, open)
  let stop: GateStop | undefined
  if (taps.length > 0) {
    try {
      const asked = askReply(call, open, effect, finished)
      stop = isThenable(asked) ? await asked : asked
    } catch (error) {
      // reached from a gate of the same point: the call ends with it, and whoever was asked is told
      await closeModel(call, effect, open.facts, { outcome: 'error', sent: 'yes', error }, open.reply).told
      throw error
    }
  }
  if (stop === undefined) {
    const begun = call.steps.begin(name, null as JsonValue)
    if (begun !== null) await begun
    if (open.effect !== undefined || taps.length > 0) {
      const told = closeModel(call, effect, open.facts, { outcome: 'ok', sent: 'yes' }, open.reply).told
      if (told !== undefined) await told
    }
    call.run.check()
    return undefined
  }
  return notPassed(call, open, effect, stop)
}

/** The run was stopped from outside while the reply arrived. */
const STOPPED_MEANWHILE: GateStop = Object.freeze({
  answer: 'aborted',
  error: undefined,
  by: Object.freeze({ plugin: 'sluice', point: 'whileInFlight' }),
})

function askReply(
  call: CallScope,
  { reply, target }: OpenReply,
  effect: Effect,
  finished: FinishedReply,
): MaybePromise<GateStop | undefined> {
  const asked = {
    provider: target.provider.id,
    model: target.model,
    text: finished.text,
    output: deepFreeze(finished.output),
    finishReason: reply.finishReason,
    toolCalls: Object.freeze(finished.calls.map((part) => part.toolName)),
  }
  return settleGates(call, effect, (gates) =>
    askPoint(
      call,
      effect,
      'inspectReply',
      call.hookSet.gates.inspectReply,
      gates,
      (state) => new ReplyGateContext(effect.facts, state, asked),
    ),
  )
}

async function notPassed(
  call: CallScope,
  open: OpenReply,
  effect: Effect,
  stop: GateStop,
): Promise<FinishedReply['refused']> {
  const ids = {
    effectId: effect.facts.effectId,
    attempt: effect.facts.attempt,
    executionId: effect.facts.executionId,
    agentCode: effect.facts.agentCode,
    sessionId: effect.facts.sessionId,
  }
  if (open.delivered) tellRetracted(call, stop)
  if (stop.answer === 'refused') {
    const { receipt, told } = closeModel(
      call,
      effect,
      open.facts,
      { outcome: 'refused', sent: 'yes', error: stop.error },
      open.reply,
    )
    await told
    await call.tree.tellGateStop(stop, receipt, ids)
    await call.steps.begin(`m${call.requests}.reply`, { code: stop.error.code, text: stop.error.text })
    return { code: stop.error.code, text: stop.error.text, by: stop.by, receipt }
  }
  const error: SluiceError = call.tree.endByGate(stop)
  const { receipt, told } = closeModel(
    call,
    effect,
    open.facts,
    { outcome: stop.answer === 'aborted' ? 'aborted' : 'stopped', sent: 'yes', error },
    open.reply,
  )
  await told
  await call.tree.tellGateStop(stop, receipt, ids)
  throw error
}

/** The reply came from the journal, but whether it passed did not: it is asked as the next attempt. */
function again(call: CallScope, open: OpenReply): Effect {
  const effectId = call.effectId(`m${call.requests}`)
  const effect = new Effect(
    'model_call',
    call.facts(effectId, call.tree.attemptOf(effectId, 0)),
    `${open.target.provider.id}/${open.target.model}`,
    call.clock.now(),
  )
  effect.begunAt = call.clock.monotonic()
  return effect
}

function textOf(parts: readonly AssistantPart[]): string | null {
  let text: string | null = null
  for (const part of parts) if (part.type === 'text') text = text === null ? part.text : `${text}\n${part.text}`
  if (text !== null) return text
  for (const part of parts) if (part.type === 'refusal') text = text === null ? part.text : `${text}\n${part.text}`
  return text
}

/** The tool calls of a reply, in its order. */
export function callsOf(parts: readonly AssistantPart[]): readonly ToolCallPart[] {
  return parts.filter((part): part is ToolCallPart => part.type === 'tool_call')
}

/** Within a conversation every tool call has one id (CASE-16): a missing or repeated one is replaced. */
export function withUniqueIds(call: CallScope, parts: readonly AssistantPart[]): readonly AssistantPart[] {
  let copy: AssistantPart[] | undefined
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as AssistantPart
    if (part.type !== 'tool_call') continue
    if (part.toolCallId !== '' && !call.callIds.has(part.toolCallId)) {
      call.callIds.add(part.toolCallId)
      continue
    }
    let id: string
    do id = `tool_call_${++call.madeIds}`
    while (call.callIds.has(id))
    call.callIds.add(id)
    copy ??= [...parts]
    copy[index] = { ...part, toolCallId: id }
  }
  return copy ?? parts
}

/** A tool that ran at the provider: labelled, and on record with the answer `hosted`. */
function noteHosted(call: CallScope, plan: CallPlan, open: OpenReply, parts: readonly AssistantPart[]): void {
  let number = 0
  for (const part of parts) {
    if (part.type !== 'hosted') continue
    number += 1
    const declared = plan.hosted.find(
      (tool) => tool.code === part.toolName || tool.offered.configuration.type === part.toolName,
    )
    if (declared === undefined || declared.untrusted)
      call.labels = unionLabels(call.labels, [{ kind: 'hosted', source: declared?.code ?? part.toolName }])
    if (open.effect === undefined) continue
    const effectId = call.effectId(`m${call.requests}.h${number}`)
    const facts = call.facts(effectId, 1)
    const receipt = Object.freeze<Receipt>({
      effect: 'tool_call',
      effectId,
      attempt: 1,
      rootExecutionId: facts.rootExecutionId,
      executionId: facts.executionId,
      agentCode: facts.agentCode,
      subject: declared?.code ?? part.toolName,
      at: call.clock.now(),
      askings: [
        {
          at: call.clock.now(),
          gates: [{ plugin: open.target.provider.id, point: 'hosted', stage: 0, answer: 'hosted', ms: 0 }],
        },
      ],
      outcome: 'ok',
      sent: 'yes',
      tenant: facts.tenant,
    })
    call.tree.addReceipt(receipt)
    void emit(call, 'receipt', receipt as unknown as JsonObject)
  }
}

async function tellParts(call: CallScope, parts: readonly AssistantPart[]): Promise<void> {
  for (const part of parts) {
    const type =
      part.type === 'reasoning'
        ? 'assistant_reasoning'
        : part.type === 'text' || part.type === 'refusal'
          ? 'assistant_text'
          : undefined
    if (type === undefined || !listening(call, type)) continue
    const told = emit(call, type, frozenJson(part) as unknown as JsonObject)
    if (told !== undefined) await told
  }
}
