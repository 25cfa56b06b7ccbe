import type { Frame } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import { Interrupt } from '../engine/interrupt.js'
import type { Steps } from '../engine/engine.js'
import { HookFailedError, Refusal, Veto } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Asking } from '../hooks/receipt.js'
import { digest } from '../internal/digest.js'
import { isPlainObject } from '../internal/json.js'
import type { JsonObject, JsonValue, MaybePromise } from '../internal/json.js'
import { unionLabels } from '../messages/label.js'
import {
  describeThrown,
  errorReferenceText,
  nextErrorReference,
  rawErrorText,
  wantsErrorReference,
} from '../tools/error-reference.js'
import { runOnce } from '../tools/once.js'
import { isToolRefusal } from '../tools/refuse.js'
import { toResultText } from '../tools/result-text.js'
import type { OnceKeys, ToolContext, ToolDefinition, ToolResources } from '../tools/tool-definition.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { closeEffect } from './effect.js'
import type { Effect, Ending } from './effect.js'
import { emit, listening } from './emit.js'
import { beginRecord } from './model-call.js'
import type { NestScope } from './nest-scope.js'
import { AgentToolResult } from './runtime-parts.js'
import { OpenSignal, runOpen } from './open-effect.js'
import type { Settled, WatchResult } from './open-effect.js'
import { RESULT_TEXT } from './round-call.js'
import type { CallResult, RoundCall } from './round-call.js'

/** What a handler is given beside its arguments. */
class HandlerContext implements ToolContext {
  readonly runContext: ToolContext['runContext']
  readonly idempotencyKey: string
  readonly resources: ToolResources
  readonly toolCode: string
  readonly callId: string
  readonly effectId: string
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly sessionId: string | null
  readonly labels: ToolContext['labels']
  readonly logger: ToolContext['logger']
  readonly #open: OpenSignal

  constructor(call: CallScope, entry: RoundCall, effect: Effect, open: OpenSignal) {
    const { facts } = effect
    this.runContext = call.run.facts.runContext
    this.idempotencyKey = facts.effectId
    this.resources = (call.run.options.resources ?? EMPTY) as ToolResources
    this.toolCode = (entry.tool as ToolDefinition).code
    this.callId = entry.part.toolCallId
    this.effectId = facts.effectId
    this.executionId = facts.executionId
    this.rootExecutionId = facts.rootExecutionId
    this.agentCode = facts.agentCode
    this.sessionId = facts.sessionId
    this.labels = facts.labels
    this.logger = call.parts.logger
    this.#open = open
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#open.signal
  }

  once<Result extends JsonValue>(keys: OnceKeys, fn: () => MaybePromise<Result>): Promise<Result> {
    return runOnce(keys, this.idempotencyKey, fn)
  }
}

const EMPTY: ToolResources = Object.freeze({})

/** The context that `authorize` and the handler share. */
export function handlerContext(
  call: CallScope,
  entry: RoundCall,
  effect: Effect,
  open = new OpenSignal(),
): ToolContext {
  return new HandlerContext(call, entry, effect, open)
}

/** How a handler came to its end, on the side of its result: what the closing observers and the loop have to know. */
interface HandlerEnd {
  ending: Ending
  /** Set where the run ends: the error that leaves it. */
  thrown: { readonly error: unknown } | undefined
  /** Set where the handler itself threw a `Veto`. */
  veto: GateStop | undefined
}

/**
 * Runs one admitted call: begin, event, handler (or the agent behind the tool), close, event. The result stands in the
 * entry, also where the call throws because the run ends with it.
 */
export async function runTool(call: CallScope, plan: CallPlan, entry: RoundCall): Promise<void> {
  const tool = entry.tool as ToolDefinition
  const { tree } = call
  await call.steps.branch(entry.name, async (steps) => {
    const resumed = steps.recorded('call') === 'begun'
    const effect = entry.effect as Effect
    entry.state = 'begun'
    const begun = (await steps.begin(
      'call',
      resumed ? (null as JsonValue) : beginRecord(call, effect),
    )) as JsonObject | null
    if (resumed && begun !== null && Array.isArray(begun.askings))
      effect.askings.push(...(begun.askings as unknown as Asking[]))
    tree.countToolCall()
    tree.noteAttempt(effect.facts.effectId, effect.facts.attempt)
    if (!resumed && listening(call, 'tool_call')) {
      const told = emit(call, 'tool_call', {
        type: 'tool_call',
        toolCallId: entry.part.toolCallId,
        toolName: entry.part.toolName,
        args: entry.part.args,
      })
      if (told !== undefined) await told
    }
    const end: HandlerEnd = { ending: { outcome: 'ok', sent: 'yes' }, thrown: undefined, veto: undefined }
    const watch: WatchResult = { stop: undefined }
    try {
      entry.result = await steps.step('call', async () => {
        const settled = await settle(call, entry, effect, tool, steps, watch)
        const result = await readSettled(call, plan, entry, effect, settled, watch, end)
        entry.result = result
        if (end.thrown !== undefined) throw end.thrown.error
        return result
      })
    } catch (error) {
      if (Interrupt.isInstance(error)) throw error
      end.thrown ??= { error }
    }
    await closeTool(call, entry, effect, end, watch)
    if (end.thrown !== undefined) throw end.thrown.error
    call.run.check()
    if (listening(call, 'tool_result')) {
      const told = emit(call, 'tool_result', {
        type: 'tool_result',
        toolCallId: entry.part.toolCallId,
        toolName: entry.part.toolName,
        ...(entry.result as unknown as JsonObject),
        result: entry.result?.text ?? '',
      })
      if (told !== undefined) await told
    }
  })
}

function settle(
  call: CallScope,
  entry: RoundCall,
  effect: Effect,
  tool: ToolDefinition,
  steps: Steps,
  watch: WatchResult,
): MaybePromise<Settled<unknown>> {
  const path = effect.facts.effectId.slice(call.tree.rootExecutionId.length + 1)
  if (tool.agent !== null) {
    const run = {
      agent: tool.agent,
      input: entry.args as JsonObject,
      parent: call.run,
      steps,
      path,
      labels: call.labels,
    }
    effect.begunAt = call.clock.monotonic()
    // the nested run has gates, timeouts and an end of its own: it is not raced here
    return call.parts.runAgentTool(run).then(
      (value) => ({ kind: 'value' as const, value }),
      (error: unknown) => {
        if (Interrupt.isInstance(error)) throw error
        return { kind: 'error' as const, error }
      },
    )
  }
  const outer = currentFrame()
  const scope: NestScope = { run: call.run, path, next: 0, gatePoints: call.gatePoints, labels: () => call.labels }
  const frame: Frame = {
    runtimeKey: call.parts.runtimeKey,
    outer,
    tree: call.tree,
    caller: call.tree.options.caller,
    run: outer?.run,
    requestId: outer?.requestId,
    gate: undefined,
    scope,
  }
  const open = {
    kind: 'tool_call' as const,
    provider: null,
    model: null,
    toolCode: tool.code,
    timeoutMs: tool.timeoutMs ?? undefined,
  }
  return runOpen(call, effect, open, watch, (signal) =>
    runInFrame(frame, () =>
      (tool.handler as NonNullable<ToolDefinition['handler']>)(entry.args, handlerContext(call, entry, effect, signal)),
    ),
  )
}

async function readSettled(
  call: CallScope,
  plan: CallPlan,
  entry: RoundCall,
  effect: Effect,
  settled: Settled<unknown>,
  watch: WatchResult,
  end: HandlerEnd,
): Promise<CallResult> {
  const tool = entry.tool as ToolDefinition
  if (settled.kind === 'abandoned') {
    end.ending = {
      outcome: watch.stop === undefined ? 'unknown' : 'stopped',
      sent: 'yes',
      error: call.tree.stop?.error,
    }
    end.thrown = { error: call.tree.stop?.error ?? call.run.stops.reason }
    return { status: 'unknown', text: RESULT_TEXT.unknown }
  }
  if (settled.kind === 'value') {
    try {
      return labelled(call, tool, resultOf(call, tool, settled.value))
    } catch (error) {
      return failed(call, plan, entry, effect, error, end)
    }
  }
  const error = settled.kind === 'timeout' ? timedOut(tool) : settled.error
  if (Veto.isInstance(error) && tool.agent === null && call.tree.stop === undefined) {
    const by = { plugin: `tool:${tool.code}`, point: 'handler' }
    const veto = new Veto(error.code, error.message, error.details, { by, cause: error })
    end.veto = { answer: 'vetoed', error: veto, by }
    call.tree.endByGate(end.veto)
    end.ending = { outcome: 'stopped', sent: 'yes', error: veto }
    end.thrown = { error: veto }
    return { status: 'vetoed', text: RESULT_TEXT.vetoed }
  }
  if (call.run.stops.stopped) {
    // the run was stopped meanwhile: what the handler made of it makes no difference
    end.ending = { outcome: watch.stop === undefined ? 'aborted' : 'stopped', sent: 'yes', error }
    end.thrown = { error: call.tree.stop?.error ?? call.run.stops.reason }
    return { status: 'unknown', text: RESULT_TEXT.unknown }
  }
  if (Refusal.isInstance(error)) {
    end.ending = { outcome: 'refused', sent: 'yes' }
    return { status: 'refused', text: error.text }
  }
  if (settled.kind === 'timeout') end.ending = { outcome: 'unknown', sent: 'yes', error }
  return failed(call, plan, entry, effect, error, end)
}

function timedOut(tool: ToolDefinition): SluiceError {
  return new SluiceError(
    'TOOL_TIMEOUT',
    `Tool "${tool.code}" took longer than its timeoutMs (${String(tool.timeoutMs)}). Whether it took effect is not known.`,
    {
      details: { toolCode: tool.code, timeoutMs: tool.timeoutMs },
    },
  )
}

function resultOf(call: CallScope, tool: ToolDefinition, value: unknown): CallResult {
  if (isToolRefusal(value))
    return { status: 'refused', text: toResultText(value.text, tool.code, call.tree.limits.toolResultBytes).text }
  return { status: 'ok', text: toResultText(value, tool.code, call.tree.limits.toolResultBytes).text }
}

/** A result carries the labels of the request that led to it, and its own where the tool brings text from outside. */
function labelled(call: CallScope, tool: ToolDefinition, result: CallResult): CallResult {
  const labels = unionLabels(unionLabels(call.labels, tool.labels), result.labels)
  return labels.length === 0 ? result : { ...result, labels }
}

/**
 * A handler failed: the true error goes to the error log under a reference that survives whatever the caller rolls back;
 * then the policy decides. What the model reads is the reference only, unless raw texts were asked for.
 */
async function failed(
  call: CallScope,
  plan: CallPlan,
  entry: RoundCall,
  effect: Effect,
  error: unknown,
  end: HandlerEnd,
): Promise<CallResult> {
  const tool = entry.tool as ToolDefinition
  const reference = await logError(call, effect, tool, error)
  if (end.ending.outcome === 'ok') end.ending = { outcome: 'error', sent: 'yes', error }
  const text = plan.settings.exposeToolErrors ? rawErrorText(error) : errorReferenceText(reference)
  const result: CallResult = {
    status: 'error',
    text: toResultText(text, tool.code, call.tree.limits.toolResultBytes).text,
    errorReference: reference,
  }
  const policy =
    plan.settings.onToolError === 'provider'
      ? (plan.targets[0]?.provider.defaults.onToolError ?? 'throw')
      : plan.settings.onToolError
  // a delegate that fails is always told to the model (O-12); a handler that asked for a reference too (B-22)
  if (tool.agent === null && !wantsErrorReference(error) && policy === 'throw')
    end.thrown = { error: thrownError(tool, reference, error) }
  return labelled(call, tool, result)
}

async function logError(call: CallScope, effect: Effect, tool: ToolDefinition, error: unknown): Promise<string> {
  const source = wantsErrorReference(error) ? (error.cause ?? error) : error
  const reference = nextErrorReference(call.clock.now())
  try {
    return await call.parts.store.toolErrors.insert({
      reference,
      executionId: effect.facts.executionId,
      rootExecutionId: effect.facts.rootExecutionId,
      effectId: effect.facts.effectId,
      agentCode: effect.facts.agentCode,
      toolCode: tool.code,
      ...describeThrown(source),
      tenant: call.tree.options.tenant,
      at: call.clock.now(),
    })
  } catch (storeError) {
    call.parts.logger.error(
      {
        reference,
        toolCode: tool.code,
        error: describeThrown(source).message,
        storeError: describeThrown(storeError).message,
      },
      'a tool error could not be written to the error log',
    )
    return reference
  }
}

/** Codes of our own errors are kept (G-43); anything else is wrapped, the original as cause. */
function thrownError(tool: ToolDefinition, reference: string, error: unknown): unknown {
  if (SluiceError.isInstance(error) && !HookFailedError.isInstance(error)) {
    // a new object: the handler may throw the same one in another run (CASE-27)
    const { reason, details } = error
    return new SluiceError(error.code, error.message, {
      cause: error,
      retryable: error.retryable,
      ...(details === undefined ? {} : { details }),
      ...(reason === undefined ? {} : { reason }),
    })
  }
  const { message } = describeThrown(error)
  const applicationCode: unknown =
    isPlainObject(error) || error instanceof Error ? (error as { code?: unknown }).code : undefined
  return new SluiceError('TOOL_FAILED', `Tool "${tool.code}" failed: ${message} (${reference})`, {
    cause: error,
    details: {
      toolCode: tool.code,
      errorReference: reference,
      ...(typeof applicationCode === 'string' || typeof applicationCode === 'number' ? { applicationCode } : {}),
    },
  })
}

async function closeTool(
  call: CallScope,
  entry: RoundCall,
  effect: Effect,
  end: HandlerEnd,
  watch: WatchResult,
): Promise<void> {
  const result = entry.result
  const ending =
    result?.status === 'refused' && end.ending.outcome === 'ok'
      ? { ...end.ending, outcome: 'refused' as const }
      : end.ending
  const { receipt, told } = closeToolEffect(call, entry, effect, ending)
  if (told !== undefined) await told
  const stop = watch.stop ?? end.veto
  if (stop !== undefined) {
    await call.tree.tellGateStop(stop, receipt, {
      effectId: effect.facts.effectId,
      attempt: effect.facts.attempt,
      executionId: effect.facts.executionId,
      agentCode: effect.facts.agentCode,
      sessionId: effect.facts.sessionId,
    })
  }
}

/** Closes the effect of a tool call, whether it ran or not. */
export function closeToolEffect(call: CallScope, entry: RoundCall, effect: Effect, ending: Ending) {
  const tool = entry.tool as ToolDefinition
  const text = entry.result?.text
  return closeEffect(
    call,
    effect,
    ending,
    call.hookSet.observers.afterToolCall,
    {
      toolCode: tool.code,
      callId: entry.part.toolCallId,
      tool: tool.info,
      errorReference: entry.result?.errorReference ?? null,
    },
    {
      argsDigest: () => (entry.copy === undefined ? null : digest(entry.copy as JsonValue)),
      resultDigest: () => (text === undefined ? null : digest(text)),
    },
  )
}
