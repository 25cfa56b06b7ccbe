import { Veto } from '../errors/answers.js'
import { freshVeto } from '../hooks/answer-kind.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Decision } from '../hooks/hook-contexts.js'
import type { CompiledTap } from '../hooks/hook-set.js'
import type { GateReceipt } from '../hooks/receipt.js'
import { digest } from '../internal/digest.js'
import { escapeControl } from '../internal/escape-text.js'
import { frozenJson } from '../internal/frozen-json.js'
import { isPlainJson, isThenable } from '../internal/json.js'
import type { JsonObject, JsonValue, MaybePromise } from '../internal/json.js'
import { missingContextText } from '../tools/missing-context.js'
import { parseToolArguments } from '../tools/parse-arguments.js'
import type { ToolContext, ToolDefinition } from '../tools/tool-definition.js'
import { validateToolArguments } from '../tools/validate-arguments.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { askPoint, notAsked } from './effect.js'
import type { Effect } from './effect.js'
import { ToolGateContext, ToolInputGateContext } from './effect-contexts.js'
import type { ToolFacts } from './effect-contexts.js'
import type { RoundCall } from './round-call.js'

/** Why a call cannot be carried out: a code for `onInvalidCall: 'throw'`, and the text that the model reads. */
export interface CallFault {
  readonly code: 'TOOL_NOT_FOUND' | 'TOOL_ARGS_INVALID' | 'TOOL_ARGS_NOT_PLAIN'
  readonly text: string
}

/** Finds the tool by its exact name among those offered, parses and validates the arguments. No gate is asked here. */
export function prepareCall(call: CallScope, plan: CallPlan, entry: RoundCall): MaybePromise<CallFault | undefined> {
  const tool = plan.tools.get(entry.part.toolName)
  if (tool === undefined) return { code: 'TOOL_NOT_FOUND', text: unknownTool(plan, entry.part.toolName) }
  entry.tool = tool
  const { limits } = call.tree
  const parsed = parseToolArguments(entry.part.args, {
    maxBytes: limits.toolArgumentBytes,
    maxDepth: limits.toolArgumentDepth,
  })
  if (!parsed.ok) return { code: 'TOOL_ARGS_INVALID', text: parsed.fault }
  if (parsed.dropped.length > 0) {
    call.parts.logger.warn(
      { toolCode: tool.code, dropped: parsed.dropped, effectId: call.effectId(entry.name) },
      'keys that reach a prototype or the run context were dropped from tool arguments',
    )
  }
  const validated = validateToolArguments(tool, parsed.value)
  return isThenable(validated) ? validated.then((result) => take(call, entry, result)) : take(call, entry, validated)
}

function take(
  call: CallScope,
  entry: RoundCall,
  result: { ok: true; value: unknown } | { ok: false; fault: string; cause?: unknown },
): CallFault | undefined {
  if (!result.ok) {
    if (Veto.isInstance(result.cause)) throw vetoOf(call, entry, result.cause)
    return { code: 'TOOL_ARGS_INVALID', text: result.fault }
  }
  entry.args = result.value
  const inspected = call.hookSet.gates.inspectToolInput.length > 0
  if (inspected && !isPlainJson(result.value)) {
    return {
      code: 'TOOL_ARGS_NOT_PLAIN',
      text: 'The arguments of this tool are not plain data and cannot be checked, so it was not run.',
    }
  }
  const authorized = entry.tool?.authorize !== undefined
  if (inspected || authorized || call.hookSet.observers.afterToolCall.length > 0) entry.copy = copyOf(result.value)
  return undefined
}

/** A refinement of the schema threw a `Veto`: a stop of the run, like one of the handler. */
function vetoOf(call: CallScope, entry: RoundCall, thrown: Veto): SluiceError {
  const by = { plugin: `tool:${entry.tool?.code ?? ''}`, point: 'validation' }
  const stop: GateStop = { answer: 'vetoed', error: freshVeto(thrown, by), by }
  const error = call.tree.endByGate(stop)
  const { executionId, agentCode, sessionId } = call.run.facts
  void call.tree.tellGateStop(stop, null, {
    effectId: call.effectId(entry.name),
    attempt: null,
    executionId,
    agentCode,
    sessionId,
  })
  return error
}

function copyOf(value: unknown): JsonObject | undefined {
  return isPlainJson(value) ? (frozenJson(value) as JsonObject) : undefined
}

function unknownTool(plan: CallPlan, name: string): string {
  const offered =
    plan.toolNames.length === 0 ? 'No tools are offered.' : `Offered are: ${plan.toolNames.slice(0, 20).join(', ')}.`
  return `There is no tool "${escapeControl(name, 80)}". ${offered}`
}

/** The text of a call that lacks a bound key of the run context. */
export function missingContext(call: CallScope, tool: ToolDefinition): string | undefined {
  return missingContextText(tool, call.run.facts.runContext)
}

/** One asking of everything that stands before a tool call: `authorize` of the tool, `beforeToolCall`, `inspectToolInput`. */
export function askTool(
  call: CallScope,
  entry: RoundCall,
  effect: Effect,
  gates: GateReceipt[],
  context: (open: { readonly signal: AbortSignal }) => ToolContext,
): MaybePromise<GateStop | undefined> {
  const tool = entry.tool as ToolDefinition
  const facts: ToolFacts = { toolCode: tool.code, callId: entry.part.toolCallId, tool: tool.info }
  const { beforeToolCall, inspectToolInput } = call.hookSet.gates
  const askInput = (): MaybePromise<GateStop | undefined> =>
    askPoint(
      call,
      effect,
      'inspectToolInput',
      inspectToolInput,
      gates,
      (state) =>
        new ToolInputGateContext(
          effect.facts,
          state,
          facts,
          entry.copy as JsonObject,
          () => digest(entry.copy as JsonValue),
          decisionOf(call, effect, entry),
          call.hookSet.stamps,
        ),
    )
  const askBefore = (): MaybePromise<GateStop | undefined> => {
    const stop = askPoint(
      call,
      effect,
      'beforeToolCall',
      beforeToolCall,
      gates,
      (state) => new ToolGateContext(effect.facts, state, facts),
    )
    return next(stop, askInput, () => notAsked(inspectToolInput, gates))
  }
  if (tool.authorize === undefined) return askBefore()
  // a frozen copy where there is one: what a gate inspects afterwards is what the handler gets
  const authorize = authorizeTap(call, tool, entry.copy ?? entry.args, context)
  const stop = askPoint(
    call,
    effect,
    'authorize',
    [authorize],
    gates,
    (state) => new ToolGateContext(effect.facts, state, facts),
  )
  return next(stop, askBefore, () => {
    notAsked(beforeToolCall, gates)
    notAsked(inspectToolInput, gates)
  })
}

function next(
  stop: MaybePromise<GateStop | undefined>,
  go: () => MaybePromise<GateStop | undefined>,
  skip: () => void,
): MaybePromise<GateStop | undefined> {
  if (stop === undefined) return go()
  if (isThenable(stop)) return stop.then((settled) => next(settled, go, skip))
  skip()
  return stop
}

/** `authorize` answers like a gate: it passes by settling with `undefined`, and anything that is no answer fails. */
function authorizeTap(
  call: CallScope,
  tool: ToolDefinition,
  args: unknown,
  context: (open: { readonly signal: AbortSignal }) => ToolContext,
): CompiledTap {
  const plugin = `tool:${tool.code}`
  return {
    plugin,
    name: 'authorize',
    point: 'authorize',
    origin: { plugin, point: 'authorize' },
    stage: 0,
    kind: 'tap',
    timeoutMs: call.parts.timeouts.hookTimeoutMs,
    shadow: false,
    passed: undefined,
    fn: (asking: { readonly signal: AbortSignal }) => tool.authorize?.(args, context(asking)),
  }
}

/** The answer of a human, for these arguments and no others: a changed argument is asked again (CASE-06). */
function decisionOf(call: CallScope, effect: Effect, entry: RoundCall): Decision | undefined {
  const asked = call.tree.askedDigests.get(effect.facts.effectId)
  if (asked !== undefined && asked !== digest(entry.copy as JsonValue)) return undefined
  const given = call.tree.decisions.get(effect.facts.effectId)
  if (given !== undefined) return given
  const waiting = call.tree.expired.get(effect.facts.effectId)
  return waiting !== undefined && waiting <= call.clock.now()
    ? Object.freeze({ decision: 'deny', by: 'expiry', note: null, at: waiting })
    : undefined
}

/** What `onInvalidCall: 'throw'` ends the call with. */
export function invalidCall(fault: CallFault, entry: RoundCall): SluiceError {
  return new SluiceError(
    fault.code,
    `The model asked for "${escapeControl(entry.part.toolName, 80)}" in a way that cannot be carried out: ${fault.text}`,
    {
      details: { toolName: entry.part.toolName.slice(0, 200), callId: entry.part.toolCallId.slice(0, 200) },
      hint: "Mend the tool's description or schema, or set onInvalidCall: 'return' to let the model try again.",
    },
  )
}
