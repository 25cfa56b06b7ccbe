import type { Frame } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import { leavesRun } from '../engine/leaves-run.js'
import type { Steps } from '../engine/engine.js'
import type { Asking } from '../hooks/receipt.js'
import { frozenJson } from '../internal/frozen-json.js'
import type { JsonObject, JsonValue, MaybePromise } from '../internal/json.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { ToolClosingContext } from './closing-contexts.js'
import { closeEffect } from './effect.js'
import type { Effect, Ending } from './effect.js'
import { emit, listening } from './emit.js'
import { beginRecord } from './model-call.js'
import type { NestScope } from './nest-scope.js'
import { handlerContext } from './handler-context.js'
import type { HandlerEnd } from './handler-end.js'
import { runOpen } from './open-effect.js'
import type { Settled, WatchResult } from './open-effect.js'
import { readSettled } from './read-settled.js'
import { RESULT_TEXT, resultPart } from './round-call.js'
import type { RoundCall } from './round-call.js'

/**
 * Runs one admitted call: begin, event, handler (or the agent behind the tool), close, event. The result stands in the
 * entry, also where the call throws because the run ends with it.
 */
export async function runTool(call: CallScope, plan: CallPlan, entry: RoundCall): Promise<void> {
  const tool = entry.tool as ToolDefinition
  const { tree } = call
  const resumed = entry.state === 'begun'
  // the bound of the tree is met before anything begins: then the call is closed as not run
  if (!resumed) tree.bounds.countToolCall()
  await call.steps.branch(entry.name, async (steps) => {
    const effect = entry.effect as Effect
    entry.state = 'begun'
    const begun = (await steps.begin(
      'call',
      resumed ? (null as JsonValue) : beginRecord(call, effect),
    )) as JsonObject | null
    if (resumed) takeAskings(effect, begun)
    tree.noteAttempt(effect.facts.effectId, effect.facts.attempt)
    const end: HandlerEnd = { ending: { outcome: 'not_run', sent: 'no' }, thrown: undefined, veto: undefined }
    const watch: WatchResult = { stop: undefined }
    try {
      if (!resumed) await tellCall(call, entry)
      call.run.check()
      end.ending = { outcome: 'ok', sent: 'yes' }
      // a nested run is a branch beside the step, so that a replay can go into it; a handler is the step itself
      const nested = tool.agent === null ? undefined : await settle(call, entry, effect, tool, steps, watch)
      entry.result = await steps.step('call', async () => {
        const settled = nested ?? (await settle(call, entry, effect, tool, steps, watch))
        const result = await readSettled(call, plan, entry, effect, settled, watch, end)
        entry.result = result
        if (end.thrown !== undefined) throw end.thrown.error
        return result
      })
    } catch (error) {
      if (leavesRun(error)) throw error
      end.thrown ??= { error }
      if (end.ending.outcome === 'not_run') entry.result ??= { status: 'not_run', text: RESULT_TEXT.notRun }
    }
    await closeTool(call, entry, effect, end, watch)
    if (end.thrown !== undefined) throw end.thrown.error
    call.run.check()
    const told = tellResult(call, entry)
    if (told !== undefined) await told
  })
}

/** The event after the handler. */
export function tellResult(call: CallScope, entry: RoundCall): Promise<void> | undefined {
  if (!listening(call, 'tool_result')) return undefined
  return emit(call, 'tool_result', frozenJson(resultPart(entry)) as unknown as JsonObject)
}

/** An effect that began before the run was stored: its receipt keeps what its gates answered then. */
export function takeAskings(effect: Effect, begun: JsonObject | null): void {
  if (begun !== null && Array.isArray(begun.askings)) effect.askings.push(...(begun.askings as unknown as Asking[]))
}

/** The event before the handler. A fatal callback ends the call here, with the handler not run. */
async function tellCall(call: CallScope, entry: RoundCall): Promise<void> {
  if (!listening(call, 'tool_call')) return
  const { toolCallId, toolName, args } = entry.part
  const told = emit(call, 'tool_call', Object.freeze({ type: 'tool_call', toolCallId, toolName, args }))
  if (told !== undefined) await told
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
      dropsLabels: tool.dropsLabels,
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
        if (leavesRun(error)) throw error
        return { kind: 'error' as const, error }
      },
    )
  }
  const scope: NestScope = { run: call.run, path, next: 0, gatePoints: call.gatePoints, labels: () => call.labels }
  const frame: Frame = {
    runtimeKey: call.parts.runtimeKey,
    outer: currentFrame(),
    tree: call.tree,
    caller: call.tree.options.caller,
    run: call.run.facts,
    requestId: call.requestId ?? undefined,
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

async function closeTool(
  call: CallScope,
  entry: RoundCall,
  effect: Effect,
  end: HandlerEnd,
  watch: WatchResult,
): Promise<void> {
  const { receipt, told } = closeToolEffect(call, entry, effect, endingOf(entry, end, watch))
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

function endingOf(entry: RoundCall, end: HandlerEnd, watch: WatchResult): Ending {
  const { ending } = end
  // a gate stopped the run while the handler was open, which came to its end all the same
  if (watch.stop !== undefined) return { ...ending, outcome: 'stopped', error: ending.error ?? watch.stop.error }
  return entry.result?.status === 'refused' && ending.outcome === 'ok' ? { ...ending, outcome: 'refused' } : ending
}

/** Closes the effect of a tool call, whether it ran or not. */
export function closeToolEffect(call: CallScope, entry: RoundCall, effect: Effect, ending: Ending) {
  return closeEffect(
    call,
    effect,
    ending,
    call.hookSet.observers.afterToolCall,
    (closed) => new ToolClosingContext(effect.facts, closed, entry),
  )
}
