import { journalMismatch } from '../engine/journal-mismatch.js'
import { bindRunContext } from '../context/run-context.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { lowerLimits } from '../generate/settings.js'
import { Tree } from '../generate/tree.js'
import type { EnvironmentFields, ExecutionRecord, PluginStamp } from '../store/records.js'
import type { HookSet } from '../hooks/hook-set.js'
import { describeError } from '../hooks/observe.js'
import type { JsonObject } from '../internal/json.js'
import type { Scope } from '../sessions/scope.js'
import { loadHistory, NO_EARLIER_TURNS } from '../sessions/history.js'
import type { EarlierTurns } from '../sessions/history.js'
import { compileValidator } from '../tools/compile-validator.js'
import { checkModels } from './check-models.js'
import { cancelPaused } from './cancel-paused.js'
import { notPaused, pausedRecord } from './decide.js'
import { knownOptions } from './known-options.js'
import { giveBack } from './give-back.js'
import { linkSignal } from './link-signal.js'
import type { PausedState } from './pause-run.js'
import { callerOf } from './record-scope.js'
import type { Resumed } from './resumed.js'
import type { Run } from './run-result.js'
import type { RuntimeCore, RuntimeFace } from './runtime-core.js'
import { runTop } from './top-run.js'

/** Options of `resume`. */
export interface ResumeOptions {
  readonly scope: Scope
  /** Live resources for the handlers, as `execute` takes them. */
  readonly resources?: unknown
  readonly signal?: AbortSignal
  /** Names of gate plugins whose absence or change an operator accepts; recorded on the run. */
  readonly acceptHooks?: readonly string[]
}

/**
 * Carries a paused run on, in this or another process: its journal is replayed up to the pause, then the gates are asked again.
 * Comes back `paused` while an answer is missing. A second resume of the same pause is refused.
 * @throws NOT_FOUND, NOT_PAUSED, HOOKS_CHANGED, JOURNAL_MISMATCH; then the run stays paused
 */
export async function resume(face: RuntimeFace, executionId: string, options: ResumeOptions): Promise<Run> {
  const { core } = face
  const { store } = core.parts
  core.flight.check()
  checkResumeOptions(options)
  const record = await pausedRecord(core, executionId, options.scope)
  if (record.status !== 'paused') throw notPaused(record)
  const held = face.slot.acquire()
  let release: (() => unknown) | undefined
  try {
    const accepted = checkHooks(record, held.set, options.acceptHooks ?? [])
    const agent = await resolveRecorded(face, record)
    await checkModels(core, agent)
    release = await store.sessions.acquire(record.sessionId, `resume:${record.id}:${core.parts.ids.id()}`, {
      wait: false,
    })
    // read while nobody else can carry it on: another resume may have paused it again
    const stored = (await store.journals.get(record.id)) as unknown as PausedState | undefined
    if (stored === undefined)
      throw journalMismatch(`Run ${record.id} is paused, but its journal is gone. Nothing was run.`, {
        hint: 'Cancel the run and start another.',
      })
    const claimed = await claim(face, record, accepted)
    const resumed: Resumed = {
      journal: stored.journal,
      execution: stored.execution,
      untouched: true,
      live: false,
      tree: undefined,
    }
    try {
      return await carryOn(face, claimed, stored, resumed, agent, held.set, options)
    } catch (error) {
      if (resumed.untouched) {
        await stayPaused(face, claimed, stored, resumed)
        const reason = resumed.tree === undefined ? undefined : core.flight.cancelled.get(resumed.tree)
        if (reason !== undefined) await cancelPaused(face, claimed, reason)
      }
      throw error
    }
  } finally {
    await giveBack(release, held, core.parts.logger)
  }
}

/** Nothing was run (a stop of `beforeExecution`, another journal): the run is as paused as before, and was asked once more. */
async function stayPaused(
  face: RuntimeFace,
  before: ExecutionRecord,
  stored: PausedState,
  { execution }: Resumed,
): Promise<void> {
  const { store, clock, logger } = face.core.parts
  const note = (fault: unknown): void =>
    logger.error({ executionId: before.id, error: describeError(fault) }, 'a run that stays paused could not be marked')
  if (execution !== stored.execution)
    await store.journals.put(before.id, { ...stored, execution } as unknown as JsonObject).catch(note)
  await store.executions
    .transition(before.id, (current) =>
      current.status === 'running' ? { status: 'paused', pending: before.pending, updatedAt: clock.now() } : undefined,
    )
    .catch(note)
  await store.sessions
    .update(before.sessionId, (current) =>
      current === undefined || current.status !== 'running'
        ? undefined
        : { ...current, status: 'paused', pausedExecutionId: before.id },
    )
    .catch(note)
}

const KEYS = ['scope', 'resources', 'signal', 'acceptHooks']

function checkResumeOptions(options: unknown): void {
  const faults = new Faults()
  const { signal, acceptHooks } = knownOptions(options, 'resume', KEYS, faults)
  if (signal !== undefined && !(signal instanceof AbortSignal)) faults.add('signal', 'must be an AbortSignal')
  if (
    acceptHooks !== undefined &&
    !(Array.isArray(acceptHooks) && acceptHooks.every((name) => typeof name === 'string'))
  )
    faults.add('acceptHooks', 'must be a list of names of plugins')
  faults.throwIfAny('The options of resume are not acceptable', { reason: 'resume.options' })
}

/** Only one resume gets the run: its row as it was then, with all decisions. */
async function claim(
  face: RuntimeFace,
  record: ExecutionRecord,
  accepted: readonly PluginStamp[] | undefined,
): Promise<ExecutionRecord> {
  const { store, clock } = face.core.parts
  let got = false
  const now = await store.executions.transition(record.id, (current) => {
    got = current.status === 'paused'
    return got
      ? { status: 'running', updatedAt: clock.now(), ...(accepted === undefined ? {} : { plugins: accepted }) }
      : undefined
  })
  if (!got || now === undefined) throw notPaused(now ?? record)
  return now
}

async function carryOn(
  face: RuntimeFace,
  record: ExecutionRecord,
  stored: PausedState,
  resumed: Resumed,
  agent: Awaited<ReturnType<typeof resolveRecorded>>,
  hookSet: HookSet,
  options: ResumeOptions,
): Promise<Run> {
  const { core } = face
  const caller = callerOf(record, stored.caller)
  const limits = lowerLimits(core.parts.limits, stored.limits, new Faults())
  const environment = environmentOf(record)
  const earlier = record.followUp === null ? NO_EARLIER_TURNS : await earlierTurns(core, record)
  const tree = new Tree(core.parts, {
    rootExecutionId: record.id,
    caller,
    createdBy: caller.createdBy,
    tenant: caller.tenant,
    appId: caller.appId,
    environment,
    hookSet,
    limits,
    recorded: true,
  })
  let unlink: (() => void) | undefined
  try {
    tree.restore(stored.tree)
    tree.waiting = record.pending.filter(({ decision }) => decision === null)
    for (const entry of record.pending) {
      if (entry.decision !== null) tree.decisions.set(entry.effectId, Object.freeze({ ...entry.decision }))
      if (entry.argsDigest !== '') tree.askedDigests.set(entry.effectId, entry.argsDigest)
      if (entry.expiresAt !== null) tree.expired.set(entry.effectId, entry.expiresAt)
    }
    core.flight.add(tree)
    resumed.tree = tree
    unlink = linkSignal(tree, options.signal)
    return await runTop({
      face,
      tree,
      agent,
      caller,
      environment,
      sessionId: record.sessionId,
      turnIndex: record.turnIndex ?? 1,
      input: record.input,
      followUp: record.followUp,
      earlier,
      repairRows: [],
      files: stored.files,
      output: stored.output === null ? null : compileValidator(stored.output),
      runContext: bindRunContext(undefined, record.runContext),
      resources: options.resources ?? core.resources?.(),
      pausable: true,
      outerExecutionId: record.outerExecutionId,
      gatePoints: undefined,
      labels: record.labels,
      resumed,
    })
  } finally {
    unlink?.()
    tree.close()
    core.flight.remove(tree)
  }
}

async function earlierTurns(core: RuntimeCore, record: ExecutionRecord): Promise<EarlierTurns> {
  const { store, ids, clock } = core.parts
  const { sessionId, agentCode } = record
  return loadHistory(store, { sessionId, agentCode, except: record.id, ids, at: clock.now() })
}

/** The agent in the version that was recorded; another active one does not fit the journal. */
async function resolveRecorded(face: RuntimeFace, record: ExecutionRecord) {
  try {
    return await face.core.agents.resolve(record.agentCode, record.agentVersion)
  } catch (cause) {
    throw journalMismatch(
      `Run ${record.id} was paused under version ${record.agentVersion} of agent "${record.agentCode}", which cannot run here any more. Nothing was run.`,
      {
        cause,
        hint: 'Bring that version back, or cancel the run and start another.',
      },
    )
  }
}

function environmentOf(record: ExecutionRecord): EnvironmentFields {
  const {
    createdBy,
    tenant,
    audience,
    appUser,
    appId,
    appSessionId,
    appPageId,
    ipAddress,
    host,
    osUser,
    module,
    action,
    clientIdentifier,
    envContext,
  } = record
  return {
    createdBy,
    tenant,
    audience,
    appUser,
    appId,
    appSessionId,
    appPageId,
    ipAddress,
    host,
    osUser,
    module,
    action,
    clientIdentifier,
    envContext,
  }
}

/**
 * The set must hold every gate plugin that the run started under, in the same version and with the same options; more gates
 * are welcome. Returns the stamps to record where an operator accepted a change.
 */
function checkHooks(
  record: ExecutionRecord,
  set: HookSet,
  accept: readonly string[],
): readonly PluginStamp[] | undefined {
  const now = set.stamps
  const changes: { name: string; what: string }[] = []
  for (const before of record.plugins) {
    const same = now.find((stamp) => stamp.name === before.name)
    if (same === undefined) changes.push({ name: before.name, what: 'is missing' })
    else if (same.version !== before.version)
      changes.push({
        name: before.name,
        what: `has version ${same.version ?? 'none'} in place of ${before.version ?? 'none'}`,
      })
    else if (same.optionsDigest !== before.optionsDigest) changes.push({ name: before.name, what: 'has other options' })
  }
  if (changes.length === 0) return undefined
  const open = changes.filter((change) => !accept.includes(change.name))
  if (open.length === 0) return now
  throw new SluiceError(
    'HOOKS_CHANGED',
    `Run ${record.id} was paused under other gates: ${open.map(({ name, what }) => `"${name}" ${what}`).join('; ')}. It stays paused.`,
    {
      hint: `Bring the set back, or accept by name: resume(id, { acceptHooks: [${open.map(({ name }) => `'${name}'`).join(', ')}] }).`,
      details: { changes: open },
    },
  )
}
