import type { AgentToRun } from '../agents/resolve-agents.js'
import type { ResolvedAgent } from '../agents/agent-type.js'
import type { ResolvedCaller } from '../context/caller.js'
import type { Frame, RunFacts } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import { bindRunContext, requireRunContext } from '../context/run-context.js'
import type { OfferedRunContext, RunContext } from '../context/run-context.js'
import { leavesRun } from '../engine/leaves-run.js'
import type { Steps } from '../engine/engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { NestScope } from '../generate/nest-scope.js'
import { RunScope } from '../generate/run-scope.js'
import type { EventSink } from '../generate/event-sink.js'
import type { Tree } from '../generate/tree.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { EnvironmentFields } from '../store/records.js'
import type { JsonObject } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import type { FilePart, Message } from '../messages/message.js'
import { NO_EARLIER_TURNS } from '../sessions/history.js'
import type { EarlierTurns } from '../sessions/history.js'
import { checkCallArguments } from '../sessions/session-access.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { agentRecord, checkAgentRecord } from './agent-record.js'
import { agentTypeOf } from './agent-type-of.js'
import { checkModels } from './check-models.js'
import { checkInput } from './check-input.js'
import { countColumns, startRow } from './execution-row.js'
import { failureOf } from './failure.js'
import { emitEnd, endColumns, endRow, finaliseRun, noteStore } from './finish-run.js'
import type { Ended } from './finish-run.js'
import { RunRecorder } from './recorder.js'
import { ownStops } from './own-stops.js'
import { runAgent } from './run-agent.js'
import type { AgentRunResult } from './run-agent.js'
import { withPartial } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'

/** A run below another one. */
export interface NestedRun {
  readonly face: RuntimeFace
  readonly parent: RunScope
  readonly agent: AgentToRun
  readonly version: number | undefined
  readonly input: JsonObject
  /** A further turn, with the conversation that it carries on. */
  readonly followUp?: { readonly text: string; readonly history: readonly Message[] } | undefined
  /** Tools of a profile agent besides its own. */
  readonly tools?: readonly ToolDefinition[]
  readonly output: CompiledSchema | null
  readonly files: readonly FilePart[]
  readonly runContext: OfferedRunContext | undefined
  readonly resources: unknown
  readonly labels: readonly Label[]
  readonly hookSet: HookSet
  readonly gatePoints: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
  /** True where the models below this agent were looked up with those of the run above. */
  readonly modelsChecked: boolean
  /** False below a user's handler or a gate. */
  readonly pausable: boolean
  /** The stream of this run, where it was started by `stream`. */
  readonly sink?: EventSink
  readonly steps: Steps
  /** Names from the root of the tree to this run. */
  readonly path: string
}

/** What came of a nested run, and the labels that it ended with. */
export interface NestedResult extends AgentRunResult {
  readonly labels: readonly Label[]
  readonly run: RunScope
}

/**
 * Runs an agent as a child of the run that is executing: a row of its own, the session, run context and gates of its parent.
 * `beforeExecution` and `afterExecution` do not fire: the top-level run covers the tree (H-8).
 */
export async function runNested(nested: NestedRun): Promise<NestedResult> {
  const { face, parent, steps } = nested
  const { core } = face
  const { tree } = parent
  parent.check()
  checkDepth(parent)
  const agent = withTools(await core.agents.resolve(nested.agent, nested.version), nested.tools)
  checkCallArguments({
    agentCode: agent.code,
    agentType: agent.definition.agentType,
    accepts: agentTypeOf(core, agent).accepts,
    hasOutput: nested.output !== null,
    hasFiles: nested.files.length > 0,
    followUp: nested.followUp?.text,
    sessionId: parent.facts.sessionId ?? undefined,
  })
  const unchecked = nested.modelsChecked ? undefined : checkModels(core, agent)
  if (unchecked !== undefined) await unchecked
  const runContext = bindRunContext(parent.facts.runContext as RunContext, nested.runContext)
  requireRunContext(runContext, agent.definition.requiredContext, agent.code)
  const input = nested.followUp === undefined ? await checkInput(agent, nested.input) : nested.input
  const executionId = await steps.id()
  const facts: RunFacts = Object.freeze({
    agentId: agent.id,
    agentCode: agent.code,
    executionId,
    parentExecutionId: parent.facts.executionId,
    rootExecutionId: tree.rootExecutionId,
    depth: parent.facts.depth + 1,
    sessionId: parent.facts.sessionId,
    createdBy: parent.facts.createdBy,
    runContext,
  })
  const own = ownStops(nested, agent, tree.usedBefore.get(executionId)?.elapsedMs ?? 0)
  const run = new RunScope({
    tree,
    facts,
    parent,
    stops: own.stops,
    labels: nested.labels,
    gatePoints: nested.gatePoints,
    hookSet: nested.hookSet,
    pausable: nested.pausable,
    ...(nested.sink === undefined ? {} : { sink: nested.sink }),
    resources: nested.resources ?? parent.options.resources,
  })
  run.timer = own.timer
  const scope: NestScope = { run, path: nested.path, next: 0, gatePoints: nested.gatePoints }
  const caller = tree.options.caller as ResolvedCaller
  const frame: Frame = {
    runtimeKey: tree.parts.runtimeKey,
    outer: currentFrame(),
    tree,
    caller,
    run: undefined,
    requestId: undefined,
    gate: undefined,
    scope,
  }
  try {
    const done = await runInFrame(frame, () => recorded(nested, run, agent, input, frame))
    tree.open.delete(executionId)
    return done
  } catch (error) {
    // a paused one stays among the open runs: what it has used is stored with the journal
    if (!waits(error, tree)) tree.open.delete(executionId)
    throw error
  } finally {
    run.end()
    own.release()
  }
}

/** The run was left paused: it waits for a human, or the journal did not fit and nothing was run. */
function waits(error: unknown, tree: Tree): boolean {
  return tree.stop === undefined && leavesRun(error)
}

async function recorded(
  nested: NestedRun,
  run: RunScope,
  agent: ResolvedAgent,
  input: JsonObject,
  frame: Frame,
): Promise<NestedResult> {
  const { steps, face } = nested
  const { tree } = run
  const { store, clock } = tree.parts
  const executionId = run.facts.executionId as string
  const replayed = steps.recorded('agent') !== 'nothing'
  if (replayed) await checkAgentRecord(steps, agent)
  else await steps.begin('agent', agentRecord(agent))
  await steps.step('record', () =>
    store.executions.insert(
      startRow({
        facts: run.facts,
        agent,
        environment: tree.options.environment as EnvironmentFields,
        turnIndex: null,
        input,
        followUp: nested.followUp?.text ?? null,
        labels: nested.labels,
        hookSet: nested.hookSet,
        outerExecutionId: null,
        at: clock.now(),
      }),
    ),
  )
  if (replayed) await store.executions.update(executionId, { status: 'running', updatedAt: clock.now() })
  frame.run = run.facts
  tree.enter(executionId, run)
  const recorder = new RunRecorder(tree, steps, undefined)
  let ended: Ended
  try {
    const done = await runAgent({
      face,
      run,
      steps,
      frame,
      path: nested.path,
      recorder,
      agent,
      input,
      followUp: nested.followUp?.text ?? null,
      earlier: earlierOf(nested),
      files: nested.files,
      output: nested.output,
      nest: runNested,
    })
    run.check()
    ended = {
      status: 'completed',
      output: done.output,
      finishReason: done.result.finishReason,
      iterationCount: done.iterationCount,
    }
    await finaliseRun(run, ended, undefined)
    emitEnd(run, ended)
    return { ...done, labels: run.call?.labels ?? nested.labels, run }
  } catch (error) {
    if (waits(error, tree)) {
      await store.executions
        .update(executionId, { ...countColumns(run), status: 'paused', updatedAt: clock.now() })
        .catch((fault: unknown) => noteStore(tree, executionId, fault))
      throw error
    }
    const failure = failureOf(tree, error, run.stops)
    ended = { status: 'failed', failure }
    await endRow(store, executionId, endColumns(run, ended, clock.now())).catch((fault: unknown) =>
      noteStore(tree, executionId, fault),
    )
    emitEnd(run, ended)
    throw withPartial(failure.error, run)
  }
}

function earlierOf({ followUp }: NestedRun): EarlierTurns {
  return followUp === undefined
    ? NO_EARLIER_TURNS
    : { messages: followUp.history, by: followUp.history.map(() => null), output: null }
}

/** Tools that whoever starts the run offers beside those of the agent. @throws INVALID_CONFIG, DUPLICATE_NAME */
function withTools(agent: ResolvedAgent, tools: readonly ToolDefinition[] | undefined): ResolvedAgent {
  if (tools === undefined || tools.length === 0) return agent
  if (agent.definition.agentType === 'profile') return { ...agent, tools: [...agent.tools, ...tools] }
  throw new SluiceError(
    'INVALID_CONFIG',
    `Agent "${agent.code}" is of type ${agent.definition.agentType}: only profile agents take further tools.`,
    { reason: 'work.tools', details: { agent: agent.code } },
  )
}

/** The bound of levels belongs to the whole tree: meeting it is a stop. */
function checkDepth(parent: RunScope): void {
  const { tree } = parent
  const bound = tree.limits.levels
  if (parent.facts.depth + 1 <= bound) return
  const error = new SluiceError('MAX_NESTING_DEPTH', `Runs are nested deeper than ${bound} levels.`, {
    hint: 'Look for agents that call each other, or raise limits.levels.',
    details: { limit: 'levels', bound },
  })
  tree.end({ error, kind: 'limit', status: 'failed' })
  throw tree.stop?.error ?? error
}
