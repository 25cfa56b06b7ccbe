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
import type { EventSink } from '../generate/event-sink.js'
import type { HookSet } from '../hooks/hook-set.js'
import { unionLabels } from '../messages/label.js'
import { checkCallArguments } from '../sessions/session-access.js'
import { loadHistory, NO_EARLIER_TURNS } from '../sessions/history.js'
import type { LoadedHistory } from '../sessions/history.js'
import type { SessionRecord } from '../store/records.js'
import { agentTypeOf } from './agent-type-of.js'
import { checkModels } from './check-models.js'
import { checkInput } from './check-input.js'
import { executeNested } from './execute-nested.js'
import type { CheckedOptions } from './execute-options.js'
import { giveBack } from './give-back.js'
import type { AcquiredSet } from './hook-slot.js'
import { linkSignal } from './link-signal.js'
import { currentNest } from './nest.js'
import type { Nest } from './nest.js'
import type { Run } from './run-result.js'
import { abortedBefore, openSession, takeTurn } from './open-turn.js'
import type { RuntimeFace } from './runtime-core.js'
import { runTop } from './top-run.js'

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
      earlier: start.loaded ?? NO_EARLIER_TURNS,
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
  checkCallArguments({
    agentCode: agent.code,
    agentType: agent.definition.agentType,
    accepts: agentTypeOf(face.core, agent).accepts,
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

function notDurable(engine: string): SluiceError {
  return new SluiceError(
    'RESOURCES_NOT_DURABLE',
    `Live resources were given to a run on the durable engine "${engine}", which another process may carry on.`,
    {
      hint: 'Give a factory in createRuntime({ resources }).',
    },
  )
}
