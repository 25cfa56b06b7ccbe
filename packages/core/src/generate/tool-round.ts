import { isJournalMismatch } from '../engine/journal-mismatch.js'
import { Interrupt } from '../engine/interrupt.js'
import type { GateStop } from '../hooks/answer-kind.js'
import { isThenable } from '../internal/json.js'
import type { ToolCallPart, ToolResultPart } from '../messages/message.js'
import { admit, ask, idsOf } from './admit-call.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import type { Effect, Ending } from './effect.js'
import { afterLostBegin } from './lost-begin.js'
import { resultPart, roundCall, RESULT_TEXT } from './round-call.js'
import type { CallResult, RoundCall } from './round-call.js'
import { closeToolEffect, runTool } from './run-tool.js'

/** A round came to its end: each call has exactly one result, in call order. */
export interface RoundResult {
  readonly results: readonly ToolResultPart[]
  /** Calls beyond `maxToolCalls` that were not run. */
  readonly skipped: number
  /** A tool with `endsCall` has ended the call. */
  readonly ended: boolean
}

/**
 * Runs the tool calls of one reply in two phases: first all are prepared and their gates asked, then the admitted ones run.
 * A stop on any call means that no tool of the round runs; a pause, that all which needs a human is pending at once.
 * Whatever happens, `results` holds what is known of every call when this throws.
 */
export async function runRound(
  call: CallScope,
  plan: CallPlan,
  parts: readonly ToolCallPart[],
  results: ToolResultPart[],
): Promise<RoundResult> {
  const calls = parts.map((part, index) => roundCall(part, `m${call.requests}.t${index + 1}`))
  const bound = Math.max(0, plan.settings.maxToolCalls - call.toolCalls)
  const room = roomOf(plan, parts, bound)
  let ended = false
  try {
    await admitAll(call, plan, calls, room)
    ended = await runAll(call, plan, calls.slice(0, room))
  } catch (error) {
    const paused = Interrupt.isInstance(error)
    fillIn(calls, paused)
    if (paused) await putOff(call, calls)
    else await closeRest(call, calls, isJournalMismatch(error) ? 'asked' : 'all')
    throw error
  } finally {
    results.push(...calls.map(resultPart))
    for (const entry of calls) {
      const record = {
        callId: entry.part.toolCallId,
        toolCode: entry.part.toolName,
        status: entry.result?.status ?? ('not_run' as const),
        ...(entry.result?.errorReference === undefined ? {} : { errorReference: entry.result.errorReference }),
      }
      call.run.addToolCall(record)
      call.records.push(record)
    }
  }
  const skipped = Math.max(0, calls.length - room)
  for (let index = 0; index < calls.length - skipped; index++) if (counts(plan, parts[index])) call.toolCalls += 1
  return { results, skipped, ended }
}

/** How many calls of a reply are within the bound: those that end the call do not count (F-12). */
function roomOf(plan: CallPlan, parts: readonly ToolCallPart[], bound: number): number {
  let counted = 0
  for (let index = 0; index < parts.length; index++) {
    if (!counts(plan, parts[index])) continue
    if (counted === bound) return index
    counted += 1
  }
  return parts.length
}

function counts(plan: CallPlan, part: ToolCallPart | undefined): boolean {
  return plan.tools.get(part?.toolName ?? '')?.endsCall !== true
}

/** Phase 1: every call in call order; the first stop ends it, a pause does not. */
async function admitAll(call: CallScope, plan: CallPlan, calls: readonly RoundCall[], room: number): Promise<void> {
  let paused = false
  for (let index = 0; index < calls.length; index++) {
    const entry = calls[index] as RoundCall
    if (index >= room) {
      entry.result = { status: 'skipped_limit', text: RESULT_TEXT.skippedLimit }
      entry.state = 'result'
      continue
    }
    const admitted = admit(call, plan, entry)
    if (isThenable(admitted)) await admitted
    if (entry.state === 'stopped') await stopRound(call, entry)
    paused ||= entry.state === 'paused'
  }
  if (paused) throw new Interrupt('the run is paused')
}

/** A stop on one call: no tool of the round runs, every call that was asked is closed, the run ends. */
async function stopRound(call: CallScope, entry: RoundCall): Promise<never> {
  const stop = entry.stop as GateStop
  const effect = entry.effect as Effect
  const error = call.tree.endByGate(stop)
  entry.result =
    stop.answer === 'aborted'
      ? { status: 'not_run', text: RESULT_TEXT.notRun }
      : { status: 'vetoed', text: RESULT_TEXT.vetoed }
  // a neighbour that ran beside it may have stopped the round first, and closed it with the rest
  if (!effect.closed) {
    const outcome = stop.answer === 'aborted' ? 'aborted' : 'stopped'
    const { receipt, told } = closeToolEffect(call, entry, effect, { outcome, sent: 'no', error })
    await told
    await call.tree.tellGateStop(stop, receipt, idsOf(effect.facts))
  }
  // the rest of the round is closed when all that ran beside it have come to their end
  throw error
}

/** A pause: every call of the round that was asked and has not run is closed `not_run`; after the resume it is asked again. */
async function putOff(call: CallScope, calls: readonly RoundCall[]): Promise<void> {
  for (const entry of calls) {
    if (entry.effect === undefined || entry.effect.closed || entry.state === 'begun') continue
    const closed = call.steps.close(entry.name)
    if (closed !== undefined) await closed
  }
  await closeRest(call, calls, 'paused')
}

/**
 * Closes the calls of a round that will not run: at a pause as not run, whatever their gates said. `all`: also those that had
 * begun, when nothing of the round is open any more.
 */
async function closeRest(
  call: CallScope,
  calls: readonly RoundCall[],
  which: 'asked' | 'all' | 'paused',
): Promise<void> {
  for (const entry of calls) {
    const { effect } = entry
    if (effect === undefined || effect.closed || (entry.state === 'begun' && which !== 'all')) continue
    const { told } = closeToolEffect(call, entry, effect, restEnding(entry, which))
    if (told !== undefined) await told
  }
}

function restEnding(entry: RoundCall, which: 'asked' | 'all' | 'paused'): Ending {
  if (entry.state === 'begun') return { outcome: 'unknown', sent: 'unknown' }
  const refused = entry.result?.status === 'refused' && which !== 'paused'
  return { outcome: refused ? 'refused' : 'not_run', sent: 'no' }
}

/**
 * Phase 2: the admitted calls, one at a time in call order; neighbours that only read may run together. True where one of them
 * ended the call: those behind it do not run.
 */
async function runAll(call: CallScope, plan: CallPlan, calls: readonly RoundCall[]): Promise<boolean> {
  let effectRan = -1
  for (let index = 0; index < calls.length; index++) {
    const group = together(plan, calls, index)
    if (group.length > 1) {
      index += group.length - 1
      await runGroup(call, plan, group, effectRan)
      continue
    }
    const entry = calls[index] as RoundCall
    await runOne(call, plan, entry, effectRan)
    if (entry.state === 'begun' && entry.tool?.effect !== 'read') effectRan = call.clock.monotonic()
    if (entry.tool?.endsCall === true && entry.result?.status === 'ok') {
      for (const other of calls.slice(index + 1)) await leaveOut(call, other)
      return true
    }
  }
  return false
}

/** A call behind one that ended the call: a step as well, so that a replay does not ask for it again. */
async function leaveOut(call: CallScope, entry: RoundCall): Promise<void> {
  if (entry.state === 'recorded') {
    entry.result = await call.steps.replay<CallResult>(entry.name)
    return
  }
  // what was refused or cannot be carried out stays that
  if (entry.state === 'result') return recordResult(call, entry)
  const result: CallResult = { status: 'not_run', text: RESULT_TEXT.ended }
  entry.result = result
  await call.steps.branch(entry.name, (steps) => steps.step('call', () => result))
  if (entry.effect === undefined || entry.effect.closed) return
  const { told } = closeToolEffect(call, entry, entry.effect, { outcome: 'not_run', sent: 'no' })
  if (told !== undefined) await told
}

function together(plan: CallPlan, calls: readonly RoundCall[], from: number): readonly RoundCall[] {
  const group: RoundCall[] = []
  for (let index = from; index < calls.length && group.length < plan.settings.toolConcurrency; index++) {
    const entry = calls[index] as RoundCall
    if (entry.state !== 'admitted' || entry.tool?.effect !== 'read' || entry.tool.endsCall) break
    group.push(entry)
  }
  return group
}

/** All of a group come to their end before an error of one of them ends the round. */
async function runGroup(
  call: CallScope,
  plan: CallPlan,
  group: readonly RoundCall[],
  effectRan: number,
): Promise<void> {
  const settled = await Promise.allSettled(group.map((entry) => runOne(call, plan, entry, effectRan)))
  const failed = settled.filter((result): result is PromiseRejectedResult => result.status === 'rejected')
  const stop = failed.find((result) => !Interrupt.isInstance(result.reason)) ?? failed[0]
  if (stop !== undefined) throw stop.reason
}

async function runOne(call: CallScope, plan: CallPlan, entry: RoundCall, effectRan: number): Promise<void> {
  call.run.check()
  if (entry.state === 'recorded' || entry.state === 'result') {
    await recordResult(call, entry)
    return
  }
  const effect = entry.effect as Effect
  if (entry.state === 'begun') {
    const blocked = await afterLostBegin(call, entry)
    if (blocked) return
  } else if (!fresh(call, effect, effectRan) && !entry.askedAgain) {
    entry.askedAgain = true
    await ask(call, entry)
    const state = entry.state as RoundCall['state']
    if (state === 'stopped') await stopRound(call, entry)
    if (state === 'paused') throw new Interrupt('the run is paused')
    if (state === 'result') {
      await recordResult(call, entry)
      return
    }
  }
  await runTool(call, plan, entry)
}

function fresh(call: CallScope, effect: Effect, effectRan: number): boolean {
  return effect.passedAt > effectRan && call.clock.monotonic() - effect.passedAt <= call.parts.timeouts.gateFreshMs
}

/** A result that needs no handler (refused, unusable, from the journal) is a step too, so that a replay finds it in place. */
async function recordResult(call: CallScope, entry: RoundCall): Promise<void> {
  if (entry.result?.status === 'skipped_limit') return
  if (entry.state === 'recorded') {
    entry.result = await call.steps.replay<CallResult>(entry.name)
    return
  }
  const result = entry.result as CallResult
  await call.steps.branch(entry.name, (steps) => steps.step('call', () => result))
  if (entry.effect !== undefined && !entry.effect.closed) {
    const { told } = closeToolEffect(call, entry, entry.effect, { outcome: 'refused', sent: 'no' })
    if (told !== undefined) await told
  }
}

function fillIn(calls: readonly RoundCall[], paused: boolean): void {
  for (const entry of calls) {
    const begun = entry.state === 'begun' && !paused
    entry.result ??= begun
      ? { status: 'unknown', text: RESULT_TEXT.unknown }
      : { status: 'not_run', text: RESULT_TEXT.notRun }
  }
}
