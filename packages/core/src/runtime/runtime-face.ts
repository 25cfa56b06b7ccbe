import { normalizeCaller } from '../context/caller.js'
import { currentFrame, frameOf, runInFrame } from '../context/frame.js'
import { FatalCallback } from '../events/event-hub.js'
import type { PluginList } from '../hooks/check-plugins.js'
import { describeError } from '../hooks/observe.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { isPlainObject } from '../internal/json.js'
import type { NestScope } from '../generate/nest-scope.js'
import type { EventSink } from '../generate/event-sink.js'
import type { Tree } from '../generate/tree.js'
import { scopeOf } from '../sessions/scope.js'
import { callProfile } from './call-profile.js'
import { cancel } from './cancel.js'
import { decide } from './decide.js'
import { execute } from './execute.js'
import { checkExecuteOptions } from './execute-options.js'
import type { ExecuteOptions } from './execute-options.js'
import { originOf } from './execution-row.js'
import { explain } from './explain.js'
import type { HookSlot } from './hook-slot.js'
import { knownOptions } from './known-options.js'
import { checkGenerateOptions, checkProfileOptions } from './plain-options.js'
import { plainCall } from './plain-call.js'
import { resume } from './resume.js'
import { EventQueue, iterateOnce } from './run-stream.js'
import type { RunStream } from './run-stream.js'
import { abortTree } from './runtime-core.js'
import type { RuntimeFace } from './runtime-core.js'
import type { Health, Runtime, Show } from './runtime.js'

/** What the public face needs beside its core. */
export interface FaceParts {
  readonly ownsStore: boolean
  /** Set on a fork, which closes its plugins only: those of its origin that are open. */
  readonly siblings?: Set<Close>
}

type Close = () => Promise<void>

/** The public runtime over a face: thin, so that each verb stands in a file of its own. */
export function runtimeOf(face: RuntimeFace, given: FaceParts): Runtime {
  const { core, slot } = face
  const { parts } = core
  const forks = new Set<Close>()
  let closing: Promise<void> | undefined
  const end: Close = () =>
    (closing ??=
      given.siblings === undefined
        ? closeAll(face, forks, given)
        : closeFork(slot, forks).finally(() => given.siblings?.delete(end)))
  given.siblings?.add(end)
  const runtime = {
    execute: async (options: ExecuteOptions) => execute(face, checkExecuteOptions(options as never), undefined),
    stream: (options: ExecuteOptions & { readonly show?: Show }) => openStream(face, options),
    decide: (executionId: string, options: Parameters<Runtime['decide']>[1]) => decide(core, executionId, options),
    resume: (executionId: string, options: Parameters<Runtime['resume']>[1]) =>
      runInFrame(undefined, () => resume(face, executionId, options)),
    generateText: async (options: unknown) => {
      const checked = checkGenerateOptions(options)
      return unwrapped(
        plainCall(face, checked, checked.model, async (_call, base) => ({ plan: base, messages: checked.messages })),
      )
    },
    executeProfile: async (options: unknown) => {
      // a run keeps what it started with
      if (!insideOwnRun(face)) slot.check()
      return unwrapped(callProfile(face, checkProfileOptions(options)))
    },
    setHooks: (plugins: PluginList | null) => slot.replace(plugins),
    fork: async (options: { readonly plugins: PluginList }) => {
      slot.check()
      const forked = slot.fork(pluginsOfFork(options))
      await forked.open()
      if (closing !== undefined) await forked.close()
      slot.check()
      return runtimeOf({ core, slot: forked, prompts: face.prompts }, { ...given, siblings: forks })
    },
    explain: (agentCode: string) => explain(face, agentCode),
    cancel: (executionId: string, options: Parameters<Runtime['cancel']>[1]) => cancel(face, executionId, options),
    plugin: (factory: { readonly meta: { readonly name: string } }, id?: string) => apiOf(face, factory.meta.name, id),
    detached: <Result>(fn: () => Result) => runInFrame(undefined, fn),
    as: (caller: Parameters<Runtime['as']>[0]) => {
      const resolved = normalizeCaller(caller, core.serviceUser)
      return Object.freeze({ caller: resolved, scope: scopeOf(resolved) })
    },
    reset: () => {
      parts.events.fatal = false
    },
    health: () => healthOf(face),
    close: () => {
      const ended = end()
      return given.siblings !== undefined && insideOwnRun(face) ? Promise.resolve() : ended
    },
    agents: core.agents,
    prompts: core.prompts,
    sessions: core.sessions,
    executions: core.executions,
    events: parts.events,
  }
  return Object.freeze(runtime) as unknown as Runtime
}

/** Inside a run the loop needs to know a fatal callback's error; a caller gets the error itself. */
async function unwrapped<Value>(call: Promise<Value>): Promise<Value> {
  try {
    return await call
  } catch (error) {
    throw error instanceof FatalCallback ? error.error : error
  }
}

function openStream(face: RuntimeFace, options: ExecuteOptions & { readonly show?: Show }): RunStream {
  const { show, ...rest } = isPlainObject(options) ? options : { show: undefined }
  if (show !== undefined && show !== 'live' && show !== 'checked') {
    throw new SluiceError('INVALID_CONFIG', "`show` must be 'live' or 'checked'.", { reason: 'stream.show' })
  }
  const { parts } = face.core
  const outer = frameOf(parts.runtimeKey)?.scope as NestScope | undefined
  const inspected =
    (face.slot.state.set?.gates.inspectReply.length ?? 0) > 0 ||
    (outer?.run.options.hookSet.gates.inspectReply.length ?? 0) > 0
  const live = show === undefined ? !inspected : show === 'live'
  const unread = new AbortController()
  let tree: Tree | undefined
  let wanted: string | undefined
  const queue = new EventQueue({
    clock: parts.clock,
    live,
    bound: parts.limits.streamBuffer,
    idleMs: parts.timeouts.streamIdleMs,
    abort: (message) => {
      wanted = message
      if (tree !== undefined) abortTree(tree, message)
      else unread.abort(new Error(message))
    },
  })
  const sink: EventSink & { attach(tree: Tree): void } = {
    live,
    unread: unread.signal,
    emit: (event) => queue.emit(event),
    attach: (started) => {
      tree = started
      if (wanted !== undefined) abortTree(started, wanted)
    },
  }
  const run = (async () =>
    execute(face, checkExecuteOptions((isPlainObject(options) ? rest : options) as never, 'stream'), () => sink))()
  // handled when nobody awaits it: the iteration ends, and the error is in `run`
  run.then(
    () => queue.close(),
    (error: unknown) => queue.close(tree?.fatal?.error === error ? tree?.fatal : error),
  )
  return Object.freeze({ run, [Symbol.asyncIterator]: iterateOnce(queue) }) as RunStream
}

function apiOf(face: RuntimeFace, name: string, id: string | undefined): unknown {
  const { set, fault } = face.slot.state
  if (set === undefined) throw fault
  const found = set.plugins.filter(
    (plugin) => plugin.name === name && (id === undefined || plugin.id === id) && !plugin.shadow,
  )
  const plugin =
    found.length === 0
      ? set.plugins.find((entry) => entry.name === name && (id === undefined || entry.id === id))
      : found[0]
  if (found.length > 1)
    throw new SluiceError('INVALID_CONFIG', `The runtime has ${found.length} instances of plugin "${name}".`, {
      hint: `Name one: ${found.map((entry) => entry.id ?? '(without id)').join(', ')}.`,
      reason: 'plugin.ambiguous',
    })
  if (plugin !== undefined) return plugin.api
  throw new SluiceError(
    'NOT_FOUND',
    `The runtime has no plugin "${name}"${id === undefined ? '' : ` with the id "${id}"`}.`,
    { hint: `It has: ${set.plugins.map((entry) => entry.key).join(', ') || 'none'}.` },
  )
}

function healthOf(face: RuntimeFace): Health {
  const { core, slot } = face
  const { set, fault } = slot.state
  return Object.freeze({
    runsInFlight: core.flight.size,
    closed: core.flight.closed,
    observers: Object.freeze({ ...core.parts.health }),
    store: core.parts.store.kind,
    engine: core.parts.engine.id,
    hooks: Object.freeze({
      status: set === undefined ? 'broken' : 'ok',
      origin: set === undefined ? null : originOf(set),
      plugins: set?.plugins.map((plugin) => plugin.key) ?? [],
      fault: set === undefined ? describeError(fault) : null,
    }),
  })
}

/** A fork says which plugins it has: the hook file of the application is never meant. */
function pluginsOfFork(options: unknown): PluginList {
  const faults = new Faults()
  const { plugins } = knownOptions(options, 'fork', ['plugins'], faults)
  if (!Array.isArray(plugins)) faults.add('plugins', 'must be a list of plugins; an empty one adds none')
  faults.throwIfAny('The options of fork are not acceptable', { reason: 'fork.options' })
  return plugins as PluginList
}

/** A run with the plugins of this fork goes on around the call: who waited for it here would wait for itself. */
function insideOwnRun({ core, slot }: RuntimeFace): boolean {
  for (let frame = currentFrame(); frame !== undefined; frame = frame.outer) {
    if (frame.runtimeKey !== core.parts.runtimeKey) continue
    const { run } = frame.scope as NestScope
    if (slot.gave(run.options.hookSet) && core.flight.find(run.tree.rootExecutionId) === run.tree) return true
  }
  return false
}

async function closeFork(slot: HookSlot, forks: ReadonlySet<Close>): Promise<void> {
  const closed = slot.close()
  for (const close of forks) await close()
  await closed
}

async function closeAll(face: RuntimeFace, forks: ReadonlySet<Close>, given: FaceParts): Promise<void> {
  const { core, slot } = face
  await core.flight.close()
  for (const close of forks) await close()
  await slot.close()
  for (const provider of core.parts.providers.values()) {
    try {
      await provider.close?.()
    } catch (error) {
      core.parts.logger.warn(
        { provider: provider.id, error: describeError(error) },
        'a provider failed while it was closed',
      )
    }
  }
  core.parts.deadlines.close()
  if (given.ownsStore) await core.parts.store.close()
}
