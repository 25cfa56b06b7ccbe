import type { ResolvedAgent } from '../agents/agent-type.js'
import { normalizeCaller } from '../context/caller.js'
import type { ResolvedCaller } from '../context/caller.js'
import { environmentFields } from '../context/environment.js'
import { currentFrame } from '../context/frame.js'
import { bindRunContext, requireRunContext, runContextValue } from '../context/run-context.js'
import type { RunContext } from '../context/run-context.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { lowerLimits } from '../generate/settings.js'
import type { Limits } from '../generate/settings.js'
import { Tree } from '../generate/tree.js'
import type { EventSink } from '../generate/tree.js'
import { PassThroughSteps } from '../engine/pass-through-steps.js'
import type { HookSet } from '../hooks/hook-set.js'
import { unionLabels } from '../messages/label.js'
import type { Message } from '../messages/message.js'
import { checkCallArguments, checkTurn } from '../sessions/session-access.js'
import { loadHistory } from '../sessions/history.js'
import type { LoadedHistory } from '../sessions/history.js'
import type { SessionRecord } from '../store/records.js'
import { cancelExpired } from './cancel-paused.js'
import { checkModels } from './check-models.js'
import { checkInput } from './check-input.js'
import type { CheckedOptions } from './execute-options.js'
import { giveBack } from './give-back.js'
import type { AcquiredSet } from './hook-slot.js'
import { linkSignal } from './link-signal.js'
import { currentNest } from './nest.js'
import type { Nest } from './nest.js'
import { runNested } from './nested-run.js'
import type { CompletedRun, Run } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'
import { runTop } from './top-run.js'

const NO_MESSAGES: readonly Message[] = Object.freeze([])

/** `runtime.execute`: a top-level run, or a child of the run that the call is made in. */
export async function execute(
  face: RuntimeFace,
  options: CheckedOptions,
  sink: (() => EventSink) | undefined,
): Promise<Run> {
  const nest = currentNest(face.core.parts.runtimeKey)
  if (nest === undefined) return executeTop(face, options, sink, nest)
  // an agent run that a plain call starts is top-level for hooks, session and records (O-20); so is one that is started
  // before there is a record of the run around it: it comes back to the gate that started it
  const apart = nest.scope.run.facts.executionId === null || nest.scope.gatePoints?.includes('beforeExecution') === true
  return nest.tree.track(apart ? executeTop(face, options, sink, nest) : executeNested(face, options, nest, sink?.()))
}

/**
 * A top-level run that the framework starts for a plain call outside any run: its bounds, stops, caller and run context go on
 * (O-20). No runtime was called for it, so no gates are added to those of the call.
 */
export function executeApart(face: RuntimeFace, options: CheckedOptions, nest: Nest): Promise<Run> {
  const held: AcquiredSet = { set: nest.scope.run.options.hookSet, release: () => undefined }
  return executeTop(face, options, undefined, nest, () => held)
}

async function executeTop(
  face: RuntimeFace,
  options: CheckedOptions,
  sink: (() => EventSink) | undefined,
  nest: Nest | undefined,
  acquire = acquireSet,
): Promise<Run> {
  const { core } = face
  const { parts } = core
  core.flight.check()
  const held = acquire(face, nest)
  let release: (() => unknown) | undefined
  try {
    const caller = callerOf(face, options, nest)
    if (options.signal?.aborted === true) throw abortedBefore(options.signal.reason)
    if (parts.engine.durable && options.resources !== undefined) throw notDurable(parts.engine.id)
    const limits = readLimits(parts.limits, options.limits)
    const agent = await core.agents.resolve(options.agent, options.version)
    checkArguments(face, agent, options)
    const checked = checkModels(core, agent)
    if (checked !== undefined) await checked
    const wanted = options.sessionId ?? sessionOf(nest)
    const sessionId = wanted ?? parts.ids.requestId()
    const executionId = parts.ids.id()
    // a new session is taken as well: its id is in events and in the context of handlers before the run has ended
    release = await takeTurn(face, sessionId, executionId, options.signal)
    const header = wanted === undefined ? undefined : await openSession(face, options, sessionId, caller)
    const runContext = bindContext(header, nest, options)
    requireRunContext(runContext, agent.definition.requiredContext, agent.code)
    const input = options.followUp === undefined ? await checkInput(agent, options.input) : options.input
    const loaded =
      options.followUp === undefined
        ? undefined
        : await loadHistory(parts.store, { sessionId, agentCode: agent.code, ids: parts.ids, at: parts.clock.now() })
    return await inFlight(face, {
      caller,
      limits,
      agent,
      sessionId,
      executionId,
      header,
      runContext,
      input,
      loaded,
      hookSet: held.set,
      nest,
      options,
      sink,
    })
  } finally {
    await giveBack(release, held, parts.logger)
  }
}

function acquireSet({ slot }: RuntimeFace, nest: Nest | undefined): AcquiredSet {
  return nest === undefined ? slot.acquire() : slot.acquireInside(nest.scope.run.options.hookSet)
}

/** Takes the turn of a session, waiting in line where the settings say so; a caller that is aborted meanwhile leaves the line. */
async function takeTurn(
  face: RuntimeFace,
  sessionId: string,
  executionId: string,
  signal: AbortSignal | undefined,
): Promise<() => unknown> {
  const { store, settings } = face.core.parts
  const wait = settings.sameSession === 'queue'
  try {
    return await store.sessions.acquire(sessionId, executionId, signal === undefined ? { wait } : { wait, signal })
  } catch (error) {
    throw signal?.aborted === true ? abortedBefore(signal.reason) : error
  }
}

/** The header of a session whose turn may be taken. A pause that has expired does not hold it: that run is ended first. */
async function openSession(
  face: RuntimeFace,
  options: CheckedOptions,
  sessionId: string,
  caller: ResolvedCaller,
): Promise<SessionRecord | undefined> {
  const { sessions } = face.core.parts.store
  const followUp = options.followUp !== undefined
  const header = await sessions.get(sessionId)
  try {
    checkTurn({ sessionId, header, caller, followUp })
    return header
  } catch (error) {
    const paused = SluiceError.isInstance(error, 'SESSION_BUSY') ? header?.pausedExecutionId : undefined
    if (paused == null || !(await cancelExpired(face, paused))) throw error
  }
  const freed = await sessions.get(sessionId)
  checkTurn({ sessionId, header: freed, caller, followUp })
  return freed
}

interface Started {
  readonly caller: ResolvedCaller
  readonly limits: Limits
  readonly agent: ResolvedAgent
  readonly sessionId: string
  readonly executionId: string
  readonly header: SessionRecord | undefined
  readonly runContext: RunContext
  readonly input: CheckedOptions['input']
  readonly loaded: LoadedHistory | undefined
  readonly hookSet: HookSet
  readonly nest: Nest | undefined
  readonly options: CheckedOptions
  readonly sink: (() => EventSink) | undefined
}

async function inFlight(face: RuntimeFace, start: Started): Promise<Run> {
  const { core } = face
  const { caller, options, nest } = start
  const environment = environmentFields(caller, core.environment)
  const tree = new Tree(core.parts, {
    rootExecutionId: start.executionId,
    caller,
    createdBy: caller.createdBy,
    tenant: caller.tenant,
    appId: caller.appId,
    environment,
    hookSet: start.hookSet,
    limits: start.limits,
    recorded: true,
    ...(start.sink === undefined ? {} : { sink: start.sink() }),
    ...(nest === undefined ? {} : { around: nest.tree }),
  })
  let unlink: (() => void) | undefined
  try {
    core.flight.add(tree)
    unlink = linkSignal(tree, options.signal)
    return await runTop({
      face,
      tree,
      agent: start.agent,
      caller,
      environment,
      sessionId: start.sessionId,
      turnIndex: (start.header?.turnCount ?? 0) + 1,
      input: start.input,
      followUp: options.followUp ?? null,
      history: start.loaded?.messages ?? NO_MESSAGES,
      repairRows: start.loaded?.repairRows ?? [],
      files: options.files,
      output: options.output,
      runContext: start.runContext,
      resources: options.resources ?? nest?.scope.run.options.resources ?? core.resources?.(),
      pausable: nest === undefined,
      outerExecutionId: outerOf(face),
      resumed: undefined,
      gatePoints: nest?.scope.gatePoints,
      labels: unionLabels(nest?.scope.labels?.() ?? nest?.scope.run.options.labels, options.inputLabels),
    })
  } finally {
    unlink?.()
    tree.close()
    core.flight.remove(tree)
  }
}

/** Inside a plain call the caller is that of the call. */
function callerOf(face: RuntimeFace, options: CheckedOptions, nest: Nest | undefined): ResolvedCaller {
  if (nest === undefined) return normalizeCaller(options.caller, face.core.serviceUser)
  if (options.caller !== undefined) {
    const faults = new Faults()
    faults.add('caller', 'belongs to the call around this run')
    faults.throwIfAny('The options of a run inside a plain call are not acceptable', { reason: 'execute.nested' })
  }
  return nest.tree.options.caller as ResolvedCaller
}

/** The session that a plain call names for the runs that it starts: the one reserved key of its run context (O-20). */
function sessionOf(nest: Nest | undefined): string | undefined {
  return runContextValue(nest?.scope.run.facts.runContext, 'session_id') ?? undefined
}

/** A run on an unrelated runtime around this call: recorded, nothing more. */
function outerOf(face: RuntimeFace): string | null {
  for (let frame = currentFrame(); frame !== undefined; frame = frame.outer) {
    if (frame.runtimeKey !== face.core.parts.runtimeKey && frame.run !== undefined) return frame.run.executionId
  }
  return null
}

function bindContext(header: SessionRecord | undefined, nest: Nest | undefined, options: CheckedOptions): RunContext {
  const bound = bindRunContext(header?.runContext as RunContext | undefined, nest?.scope.run.facts.runContext)
  return bindRunContext(bound, options.runContext)
}

function checkArguments(face: RuntimeFace, agent: ResolvedAgent, options: CheckedOptions): void {
  const type = face.core.types.get(agent.definition.agentType)
  if (type === undefined)
    throw new SluiceError(
      'UNKNOWN_AGENT_TYPE',
      `Agent "${agent.code}" has the type "${agent.definition.agentType}", which this runtime cannot run.`,
      { hint: 'Install the package that brings the type.' },
    )
  checkCallArguments({
    agentCode: agent.code,
    agentType: agent.definition.agentType,
    accepts: type.accepts,
    hasOutput: options.output !== null,
    hasFiles: options.files.length > 0,
    followUp: options.followUp,
    sessionId: options.sessionId,
  })
}

function readLimits(base: Limits, given: unknown): Limits {
  if (given === undefined) return base
  const faults = new Faults()
  const limits = lowerLimits(base, given, faults)
  faults.throwIfAny('The limits of the run are not acceptable', { reason: 'execute.limits' })
  return limits
}

function abortedBefore(cause: unknown): SluiceError {
  return new SluiceError('RUN_ABORTED', 'The run was aborted before it began; nothing was asked, sent or written.', {
    cause,
  })
}

function notDurable(engine: string): SluiceError {
  return new SluiceError(
    'RESOURCES_NOT_DURABLE',
    `Live resources were given to a run on the durable engine "${engine}", which another process may carry on.`,
    {
      hint: 'Give a factory in createRuntime({ resources }).',
    },
  )
}

/** Below a user's handler or a gate there is no journal: the run is nested, and a pause in it is a veto. */
async function executeNested(
  face: RuntimeFace,
  options: CheckedOptions,
  nest: Nest,
  sink: EventSink | undefined,
): Promise<CompletedRun> {
  refuseTopLevelOptions(options)
  const { scope, tree } = nest
  const { parts } = face.core
  const held = face.slot.acquireInside(scope.run.options.hookSet)
  try {
    const path = `${scope.path === '' ? '' : `${scope.path}/`}x${++scope.next}`
    const done = await runNested({
      face,
      parent: scope.run,
      agent: options.agent,
      version: options.version,
      input: options.input,
      output: options.output,
      files: options.files,
      runContext: options.runContext,
      resources: options.resources,
      labels: unionLabels(scope.labels?.() ?? scope.run.call?.labels ?? scope.run.options.labels, options.inputLabels),
      hookSet: held.set,
      gatePoints: scope.gatePoints,
      signal: either(options.signal, sink?.unread),
      modelsChecked: false,
      pausable: false,
      ...(sink === undefined ? {} : { sink }),
      steps: new PassThroughSteps(path, parts.clock, parts.ids),
      path,
    })
    return Object.freeze({
      ...done.result,
      status: 'completed',
      treeUsage: tree.usage,
      receipts: tree.receiptCounts(),
    }) as CompletedRun
  } finally {
    held.release()
  }
}

function either(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other])
}

function refuseTopLevelOptions(options: CheckedOptions): void {
  const faults = new Faults()
  if (options.caller !== undefined)
    faults.add('caller', 'belongs to the top-level run; a nested one has the caller of its tree')
  if (options.limits !== undefined) faults.add('limits', 'belong to the top-level run')
  if (options.sessionId !== undefined)
    faults.add('sessionId', 'belongs to the top-level run; a nested one joins its session')
  if (options.followUp !== undefined) faults.add('followUp', 'is a turn of a session, which only a top-level run takes')
  faults.throwIfAny('The options of a nested run are not acceptable', { reason: 'execute.nested' })
}
