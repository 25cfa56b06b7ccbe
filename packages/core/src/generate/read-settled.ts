import { Refusal, Veto } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import { freshVeto } from '../hooks/answer-kind.js'
import { boundText } from '../internal/bounded-text.js'
import { isToolRefusal } from '../tools/refuse.js'
import { toResultText } from '../tools/result-text.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { isLabelledResult } from '../tools/with-labels.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import type { Effect } from './effect.js'
import type { HandlerEnd } from './handler-end.js'
import type { Settled, WatchResult } from './open-effect.js'
import { RESULT_TEXT } from './round-call.js'
import type { CallResult, RoundCall } from './round-call.js'
import { AgentToolResult } from './runtime-parts.js'
import { failed, labelled } from './tool-failure.js'

/** Reads how a handler ended: its result, or what follows from its failure. */
export async function readSettled(
  call: CallScope,
  plan: CallPlan,
  entry: RoundCall,
  effect: Effect,
  settled: Settled<unknown>,
  watch: WatchResult,
  end: HandlerEnd,
): Promise<CallResult> {
  const tool = entry.tool as ToolDefinition
  if (settled.kind === 'not_started') {
    end.ending = { outcome: 'not_run', sent: 'no' }
    end.thrown = { error: call.tree.stop?.error ?? call.run.stops.reason }
    return { status: 'not_run', text: RESULT_TEXT.notRun }
  }
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
    const veto = freshVeto(error, by)
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
  if (call.tree.fatal !== undefined && call.tree.fatal.error === error) {
    // a fatal callback of a call that the handler made, and did not catch
    end.ending = { outcome: 'error', sent: 'yes', error }
    end.thrown = { error: call.tree.fatal }
    return { status: 'error', text: RESULT_TEXT.unknown }
  }
  if (Refusal.isInstance(error)) {
    end.ending = { outcome: 'refused', sent: 'yes' }
    return { status: 'refused', text: boundText(String(error.text), call.tree.limits.toolResultBytes, 'bytes').text }
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
  if (value instanceof AgentToolResult) {
    const { text } = toResultText(value.text, tool.code, call.tree.limits.toolResultBytes)
    return { status: 'ok', text, ...(value.labels.length === 0 ? {} : { labels: value.labels }) }
  }
  if (isLabelledResult(value)) return { ...resultOf(call, tool, value.value), labels: value.labels }
  if (isToolRefusal(value))
    return { status: 'refused', text: toResultText(value.text, tool.code, call.tree.limits.toolResultBytes).text }
  return { status: 'ok', text: toResultText(value, tool.code, call.tree.limits.toolResultBytes).text }
}
