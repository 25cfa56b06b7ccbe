import { isJournalMismatch } from '../engine/journal-mismatch.js'
import type { ResolvedAgent } from '../agents/agent-type.js'
import type { ResolvedCaller } from '../context/caller.js'
import type { Frame, RunFacts } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import type { RunContext } from '../context/run-context.js'
import { Interrupt } from '../engine/interrupt.js'
import type { Steps } from '../engine/engine.js'
import type { SluiceError } from '../errors/sluice-error.js'
import type { Effect } from '../generate/effect.js'
import type { NestScope } from '../generate/nest-scope.js'
import { RunScope } from '../generate/run-scope.js'
import type { Tree } from '../generate/tree.js'
import type { JsonObject } from '../internal/json.js'
import type { FilePart } from '../messages/message.js'
import type { EarlierTurns } from '../sessions/history.js'
import type { EnvironmentFields, NewMessageRecord } from '../store/records.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import { armTimeout } from './arm-timeout.js'
import { askBeforeExecution, closeExecution } from './ask-before-execution.js'
import { endOpenRuns } from './end-nested-runs.js'
import { failureOf } from './failure.js'
import { emitEnd, finaliseRun, logFailure, noteStore, tellAfterExecution } from './finish-run.js'
import type { Ended } from './finish-run.js'
import { runNested } from './nested-run.js'
import { neverBegan, openRecord, tellNotRun } from './open-record.js'
import { pauseRun } from './pause-run.js'
import { RunRecorder } from './recorder.js'
import { runAgent } from './run-agent.js'
import type { RunningAgent } from './run-agent.js'
import type { Resumed } from './resumed.js'
import { withPartial } from './run-result.js'
import type { CompletedRun, Run } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'
import { agentRecord, checkAgentRecord } from './agent-record.js'
import { WatchedSteps } from './watched-steps.js'

/** Everything about a top-level run that was decided before its first gate is asked. */
export interface TopRun {
  readonly face: RuntimeFace
  readonly tree: Tree
  readonly agent: ResolvedAgent
  readonly caller: ResolvedCaller
  readonly environment: EnvironmentFields
  readonly sessionId: string
  readonly turnIndex: number
  readonly input: JsonObject
  readonly followUp: string | null
  /** The turns that this one follows. */
  readonly earlier: EarlierTurns
  readonly repairRows: readonly NewMessageRecord[]
  readonly files: readonly FilePart[]
  readonly output: CompiledSchema | null
  readonly runContext: RunContext
  readonly resources: unknown
  /** False below a user's handler. */
  readonly pausable: boolean
  readonly outerExecutionId: string | null
  readonly gatePoints: readonly string[] | undefined
  readonly labels: RunScope['options']['labels']
  readonly resumed: Resumed | undefined
}

/** The life of one top-level run, from its first gate to its last observer (H-9). */
export async function runTop(top: TopRun): Promise<Run> {
  const { tree } = top
  const { engine } = tree.parts
  try {
    return await engine.run(tree.rootExecutionId, (steps) => live(top, watched(top, steps)), top.resumed?.journal)
  } finally {
    await engine.forget(tree.rootExecutionId)
  }
}

function watched({ resumed }: TopRun, steps: Steps): Steps {
  if (resumed === undefined) return steps
  return new WatchedSteps(steps, () => {
    resumed.live = true
  })
}

function live(top: TopRun, steps: Steps): Promise<Run> {
  const { tree } = top
  const run = new RunScope({
    tree,
    facts: factsOf(top),
    parent: undefined,
    stops: tree.stops,
    labels: top.labels,
    gatePoints: top.gatePoints,
    resources: top.resources,
    hookSet: tree.hookSet,
    pausable: top.pausable,
  })
  const scope: NestScope = { run, path: '', next: 0, gatePoints: top.gatePoints }
  const frame: Frame = {
    runtimeKey: tree.parts.runtimeKey,
    outer: currentFrame(),
    tree,
    caller: top.caller,
    run: undefined,
    requestId: undefined,
    gate: undefined,
    scope,
  }
  tree.frame = frame
  return runInFrame(frame, async () => {
    let effect: Effect
    try {
      // before anybody is asked: gates that answer for a run hear how it ends
      await recordAgent(top, steps)
      effect = await askBeforeExecution(run, steps, top.resumed)
    } catch (error) {
      await tree.settle()
      // a stream that was opened hears how the run ended, also where it never began
      emitEnd(run, { status: 'failed', failure: failureOf(tree, error) })
      throw withPartial(error, run)
    }
    return recorded(top, run, steps, frame, effect)
  })
}

async function recordAgent(top: TopRun, steps: Steps): Promise<void> {
  if (top.resumed !== undefined) return checkAgentRecord(steps, top.agent)
  const begun = steps.begin('agent', agentRecord(top.agent))
  if (begun !== null) await begun
}

function factsOf(top: TopRun): RunFacts {
  return Object.freeze({
    agentId: top.agent.id,
    agentCode: top.agent.code,
    executionId: top.tree.rootExecutionId,
    parentExecutionId: null,
    rootExecutionId: top.tree.rootExecutionId,
    depth: 0,
    sessionId: top.sessionId,
    createdBy: top.caller.createdBy,
    runContext: top.runContext,
  })
}

/** From here on the run has a record, and `afterExecution` fires whatever happens. */
async function recorded(top: TopRun, run: RunScope, steps: Steps, frame: Frame, effect: Effect): Promise<Run> {
  const { tree, agent, sessionId, resumed } = top
  const executionId = tree.rootExecutionId
  const recorder = new RunRecorder(tree, steps, { sessionId, executionId, agentCode: agent.code })
  try {
    await openRecord(top, run, steps)
  } catch (error) {
    throw await neverBegan(top, run, effect, error)
  }
  frame.run = run.facts
  tree.enter(executionId, run)
  const timeout = armTimeout(top)
  if (resumed !== undefined) resumed.untouched = false
  // a journal in the store is deleted when the run ends
  let stored = resumed !== undefined
  const running: RunningAgent = {
    face: top.face,
    run,
    steps,
    frame,
    path: '',
    recorder,
    agent,
    input: top.input,
    followUp: top.followUp,
    earlier: top.earlier,
    files: top.files,
    output: top.output,
    nest: runNested,
  }
  let ended: Ended
  let result: Omit<CompletedRun, 'receipts' | 'treeUsage' | 'status'> | undefined
  let thrown: unknown
  try {
    const done = await runAgent(running)
    tree.check()
    result = done.result
    ended = {
      status: 'completed',
      output: done.output,
      finishReason: done.result.finishReason,
      iterationCount: done.iterationCount,
    }
  } catch (error) {
    thrown = error
    if (Interrupt.isInstance(error) && tree.stop === undefined) {
      stored = true
      try {
        return await pauseRun(top, run, recorder, effect)
      } catch (fault) {
        thrown = fault
      }
    }
    if (resumed !== undefined && isJournalMismatch(thrown) && tree.stop === undefined && !resumed.live) {
      resumed.untouched = true
      await tellNotRun(run, effect, { error: thrown as SluiceError, kind: 'input', status: 'failed' })
      throw withPartial(thrown, run)
    }
    const failure = failureOf(tree, thrown)
    ended = { status: 'failed', failure }
  } finally {
    timeout?.()
  }
  await tree.windUp()
  if (ended.status === 'failed') {
    await recorder.rest(run.call).catch((fault: unknown) => noteStore(tree, executionId, fault))
  }
  const below = endOpenRuns(tree)
  if (below !== undefined) await below
  const receipt = closeExecution(
    run,
    effect,
    ended.status === 'completed'
      ? 'ok'
      : tree.stop === undefined
        ? 'error'
        : ended.failure.status === 'failed'
          ? 'stopped'
          : 'aborted',
  )
  if (ended.status === 'failed') logFailure(run, ended.failure, 'a run failed')
  await finaliseRun(run, ended, recorder.messageCount)
  await tellAfterExecution(run, ended, receipt)
  await tree.settle()
  if (stored)
    await tree.parts.store.journals.delete(executionId).catch((fault: unknown) => noteStore(tree, executionId, fault))
  emitEnd(run, ended)
  frame.run = undefined
  if (ended.status === 'failed') throw withPartial(ended.failure.error, run)
  return Object.freeze({
    ...(result as NonNullable<typeof result>),
    status: 'completed',
    treeUsage: tree.usage,
    receipts: tree.receiptCounts(),
  }) as CompletedRun
}
