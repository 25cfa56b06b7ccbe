import { Veto } from '../errors/answers.js'
import type { Pause } from '../errors/answers.js'
import type { GateStop } from '../hooks/answer-kind.js'
import { boundText } from '../internal/bounded-text.js'
import { digest } from '../internal/digest.js'
import { isThenable } from '../internal/json.js'
import type { JsonValue, MaybePromise } from '../internal/json.js'
import type { EffectFacts } from '../hooks/asking-context.js'
import { askTool, invalidCall, missingContext, prepareCall } from './ask-tool.js'
import type { CallFault } from './ask-tool.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import { Effect, settleGates } from './effect.js'
import { handlerContext } from './handler-context.js'
import type { CallResult, RoundCall } from './round-call.js'

/** Prepares one call of a round and asks its gates; what came of it stands in the entry. */
export async function admit(call: CallScope, plan: CallPlan, entry: RoundCall): Promise<void> {
  call.run.check()
  const recorded = call.steps.recorded(entry.name)
  const prepared = prepare(call, plan, entry)
  const fault = isThenable(prepared) ? await prepared : prepared
  if (recorded === 'done') {
    entry.state = 'recorded'
    return
  }
  if (fault !== undefined) {
    if (plan.settings.onInvalidCall === 'throw') throw invalidCall(fault, entry)
    setResult(entry, { status: 'invalid', text: fault.text })
    return
  }
  const missing = entry.tool === undefined ? undefined : missingContext(call, entry.tool)
  if (missing !== undefined) {
    setResult(entry, { status: 'refused', text: missing })
    return
  }
  const effectId = call.effectId(entry.name)
  const attempt = call.tree.attemptOf(effectId, call.steps.attemptsBefore(entry.name) - (recorded === 'begun' ? 1 : 0))
  entry.effect = new Effect('tool_call', call.facts(effectId, attempt), entry.part.toolName, call.clock.now())
  if (recorded === 'begun') {
    // its gates passed before the pause and stand in the journal; the run below it goes on
    entry.state = 'begun'
    return
  }
  await ask(call, entry)
}

/** A `Veto` out of the tool's own schema ends the run, as one of its handler does. */
function prepare(call: CallScope, plan: CallPlan, entry: RoundCall): MaybePromise<CallFault | undefined> {
  try {
    const prepared = prepareCall(call, plan, entry)
    return isThenable(prepared) ? Promise.resolve(prepared).catch((error) => inputFailed(call, entry, error)) : prepared
  } catch (error) {
    return inputFailed(call, entry, error)
  }
}

async function inputFailed(call: CallScope, entry: RoundCall, error: unknown): Promise<never> {
  if (!Veto.isInstance(error)) throw error
  const by = { plugin: `tool:${entry.part.toolName}`, point: 'input' }
  const veto = new Veto(error.code, error.message, error.details, { by, cause: error })
  const stop: GateStop = { answer: 'vetoed', by, error: veto }
  const ended = call.tree.endByGate(stop)
  await call.tree.tellGateStop(stop, null, idsOf(call.facts(call.effectId(entry.name), 1)))
  throw ended
}

/** Asks everything that stands before one call. */
export async function ask(call: CallScope, entry: RoundCall): Promise<void> {
  const effect = entry.effect as Effect
  const context = (open: { readonly signal: AbortSignal }) => handlerContext(call, entry, effect, open)
  const asked = settleGates(call, effect, (gates) => askTool(call, entry, effect, gates, context))
  const stop = isThenable(asked) ? await asked : asked
  entry.stop = stop
  if (stop === undefined) entry.state = 'admitted'
  else if (stop.answer === 'refused') {
    setResult(entry, {
      status: 'refused',
      text: boundText(stop.error.text, call.tree.limits.toolResultBytes, 'bytes').text,
    })
    await call.tree.tellGateStop(stop, null, idsOf(effect.facts))
  } else if (stop.answer === 'paused') await setPaused(call, entry, stop.error)
  else entry.state = 'stopped'
}

async function setPaused(call: CallScope, entry: RoundCall, pause: Pause): Promise<void> {
  const effect = entry.effect as Effect
  const stop = entry.stop as GateStop
  if (!call.run.options.pausable) {
    const code = call.tree.options.recorded ? 'PAUSE_IN_HANDLER' : 'PAUSE_STANDALONE'
    const where = call.tree.options.recorded
      ? 'below a handler of the user or a plain call, which cannot be paused through'
      : 'in a plain call outside any run'
    entry.stop = {
      answer: 'vetoed',
      by: stop.by,
      error: new Veto(
        code,
        `Plugin "${stop.by.plugin}" paused (${pause.code}) ${where}.`,
        { code: pause.code },
        { by: stop.by, cause: pause },
      ),
    }
    entry.state = 'stopped'
    return
  }
  entry.state = 'paused'
  call.tree.pending.push({
    effectId: effect.facts.effectId,
    executionId: effect.facts.executionId ?? '',
    agentCode: effect.facts.agentCode ?? '',
    toolCode: entry.part.toolName,
    callId: entry.part.toolCallId,
    argsDigest: entry.copy === undefined ? '' : digest(entry.copy as JsonValue),
    plugin: stop.by.plugin,
    code: pause.code,
    details: pause.details ?? null,
    expiresAt: pause.expiresAt ?? null,
    decision: null,
  })
  await call.tree.tellGateStop(stop, null, idsOf(effect.facts))
}

function setResult(entry: RoundCall, result: CallResult): void {
  entry.result = result
  entry.state = 'result'
}

/** What an effect is known by, for `onStop`. */
export function idsOf({ effectId, attempt, executionId, agentCode, sessionId }: EffectFacts) {
  return { effectId, attempt, executionId, agentCode, sessionId }
}
