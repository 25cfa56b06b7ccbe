import { normalizeCaller } from '../context/caller.js'
import type { Frame, RunFacts } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import { bindRunContext } from '../context/run-context.js'
import type { RunContext } from '../context/run-context.js'
import { PassThroughSteps } from '../engine/pass-through-steps.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { FatalCallback } from '../events/event-hub.js'
import { CallScope } from '../generate/call-scope.js'
import { generateCall } from '../generate/generate-call.js'
import type { CallResultOf } from '../generate/generate-call.js'
import type { NestScope } from '../generate/nest-scope.js'
import { RunScope } from '../generate/run-scope.js'
import { lowerLimits, readSettings } from '../generate/settings.js'
import { Tree } from '../generate/tree.js'
import { StopSource } from '../internal/stop-source.js'
import type { Message } from '../messages/message.js'
import { unionLabels } from '../messages/label.js'
import { buildPlan } from './build-plan.js'
import type { PlanOptions } from './build-plan.js'
import { checkModelsBelow } from './check-models.js'
import { failureOf } from './failure.js'
import { logFailure, noteStore } from './finish-run.js'
import { linkSignal } from './link-signal.js'
import { currentNest } from './nest.js'
import type { Nest } from './nest.js'
import type { PlainCall } from './plain-options.js'
import { RunRecorder } from './recorder.js'
import { withPartial } from './run-result.js'
import type { Generated } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'

/** What a plain call sends, made inside its scope: a profile's prompts are augmented there. */
export type Prepare = (
  call: CallScope,
  base: PlanOptions,
) => Promise<{ readonly plan: PlanOptions; readonly messages: readonly Message[] }>

/**
 * A plain call (`generateText`, `executeProfile`). Inside a run it belongs to that run: its gates, its ids, its tokens. Outside
 * it is a tree of its own, with limits, sticky stops and receipts, and without record and journal.
 */
export async function plainCall(
  face: RuntimeFace,
  options: PlainCall,
  model: string,
  prepare: Prepare,
): Promise<Generated> {
  const nest = currentNest(face.core.parts.runtimeKey)
  const held = nest === undefined ? face.slot.acquire() : face.slot.acquireInside(nest.scope.run.options.hookSet)
  try {
    const base = planOptions(face, options, model)
    const checked = checkModelsBelow(face.core, base.tools)
    if (checked !== undefined) await checked
    return nest === undefined
      ? await standalone(face, options, base, prepare, held.set)
      : await nest.tree.track(inside(face, options, base, prepare, nest, held.set))
  } finally {
    held.release()
  }
}

function planOptions(face: RuntimeFace, options: PlainCall, model: string): PlanOptions {
  const faults = new Faults()
  const settings = readSettings(face.core.parts.settings, options.settings, faults)
  faults.throwIfAny('The settings of the call are not acceptable', { reason: 'generate.settings' })
  return {
    model,
    tools: options.tools,
    hostedTools: options.hostedTools,
    output: options.output,
    settings,
    stream: false,
    ...(options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
    reasoning: options.reasoning ?? null,
    temperature: options.temperature ?? null,
    topP: options.topP ?? null,
    stopSequences: options.stopSequences ?? null,
    providerOptions: options.providerOptions ?? null,
    ...(options.connection === undefined ? {} : { connection: options.connection }),
  }
}

async function standalone(
  face: RuntimeFace,
  options: PlainCall,
  base: PlanOptions,
  prepare: Prepare,
  hookSet: Tree['hookSet'],
): Promise<Generated> {
  const { parts, flight, serviceUser } = face.core
  const caller = normalizeCaller(options.caller, serviceUser)
  const runContext = bindRunContext(undefined, options.runContext)
  const faults = new Faults()
  const limits = lowerLimits(parts.limits, options.limits, faults)
  faults.throwIfAny('The limits of the call are not acceptable', { reason: 'generate.limits' })
  const resources = options.resources ?? face.core.resources?.()
  const rootExecutionId = parts.ids.id()
  const tree = new Tree(parts, {
    rootExecutionId,
    caller,
    createdBy: caller.createdBy,
    tenant: caller.tenant,
    appId: caller.appId,
    hookSet,
    limits,
    recorded: false,
  })
  tree.stateOpen = true
  const facts: RunFacts = Object.freeze({
    agentId: null,
    agentCode: null,
    executionId: null,
    parentExecutionId: null,
    rootExecutionId,
    depth: 0,
    sessionId: null,
    createdBy: caller.createdBy,
    runContext,
  })
  const run = new RunScope({
    tree,
    facts,
    parent: undefined,
    stops: tree.stops,
    labels: options.inputLabels ?? [],
    gatePoints: undefined,
    resources,
    hookSet,
    pausable: false,
  })
  const scope: NestScope = { run, path: '', next: 0 }
  const frame: Frame = {
    runtimeKey: parts.runtimeKey,
    outer: currentFrame(),
    tree,
    caller,
    run: facts,
    requestId: parts.ids.requestId(),
    gate: undefined,
    scope,
  }
  tree.frame = frame
  const steps = new PassThroughSteps('', parts.clock, parts.ids)
  const recorder = new RunRecorder(tree, steps, undefined)
  let unlink: (() => void) | undefined
  try {
    flight.add(tree)
    unlink = linkSignal(tree, options.signal)
    const call = new CallScope(run, {
      requestId: frame.requestId as string,
      path: '',
      steps,
      hookSet,
      gatePoints: undefined,
      main: true,
    })
    const done = await runInFrame(frame, () => go(face, call, base, prepare, recorder))
    await tree.windUp()
    tree.check()
    await tree.settle()
    return generated(done, call)
  } catch (error) {
    await tree.windUp()
    await recorder.rest(undefined).catch((fault: unknown) => noteStore(tree, null, fault))
    await tree.settle()
    logFailure(run, failureOf(tree, error), 'a call failed')
    throw withPartial(tree.stop?.error ?? (error instanceof FatalCallback ? error.error : error), run)
  } finally {
    unlink?.()
    tree.close()
    flight.remove(tree)
  }
}

async function inside(
  face: RuntimeFace,
  options: PlainCall,
  base: PlanOptions,
  prepare: Prepare,
  nest: Nest,
  hookSet: Tree['hookSet'],
): Promise<Generated> {
  const { parts } = face.core
  const { scope, tree } = nest
  refuseTopLevelOptions(options)
  const outer = scope.run
  outer.check()
  const own = options.signal === undefined ? undefined : signalStops(outer, options.signal)
  const run = innerRun(scope, options, hookSet, own?.stops)
  const path = `${scope.path === '' ? '' : `${scope.path}/`}g${++scope.next}`
  const requestId = parts.ids.requestId()
  const call = new CallScope(run, {
    requestId,
    path,
    steps: new PassThroughSteps(path, parts.clock, parts.ids),
    hookSet,
    gatePoints: scope.gatePoints,
    main: false,
  })
  call.labels = unionLabels(call.labels, scope.labels?.() ?? outer.call?.labels)
  const inner: NestScope = { run, path, next: 0, gatePoints: scope.gatePoints, labels: () => call.labels }
  const frame: Frame = {
    runtimeKey: parts.runtimeKey,
    outer: currentFrame(),
    tree,
    caller: tree.options.caller,
    run: run.facts,
    requestId,
    gate: nest.frame.gate,
    scope: inner,
  }
  try {
    const done = await runInFrame(frame, () => go(face, call, base, prepare, undefined))
    run.check()
    return generated(done, call)
  } catch (error) {
    throw tree.stop?.error ?? (error instanceof FatalCallback ? error : withPartial(error, run, call))
  } finally {
    own?.release()
    outer.takeOver(run)
  }
}

/**
 * What the call has in common with what is started below it: the gates that a fork added, the points that it must not reach
 * again. It is no run of its own, and nothing below it can be paused through.
 */
function innerRun(scope: NestScope, options: PlainCall, hookSet: Tree['hookSet'], stops?: StopSource): RunScope {
  const outer = scope.run
  return outer.part({
    labels: unionLabels(outer.options.labels, options.inputLabels),
    stops: stops ?? outer.stops,
    facts: Object.freeze({
      ...outer.facts,
      runContext: bindRunContext(outer.facts.runContext as RunContext, options.runContext),
    }),
    resources: options.resources ?? outer.options.resources,
    gatePoints: scope.gatePoints,
    hookSet,
    pausable: false,
  })
}

/** The signal of a call inside a run ends that call alone. */
function signalStops(outer: RunScope, signal: AbortSignal): { stops: StopSource; release(): void } {
  const stops = new StopSource()
  const follow = (reason: unknown): void => void stops.stop(reason)
  outer.stops.listen(follow)
  const onAbort = (): void =>
    void stops.stop(new SluiceError('RUN_ABORTED', 'The call was aborted by its caller.', { cause: signal.reason }))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return {
    stops,
    release: () => {
      outer.stops.unlisten(follow)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

function refuseTopLevelOptions(options: PlainCall): void {
  const faults = new Faults()
  if (options.caller !== undefined) faults.add('caller', 'belongs to the run around this call')
  if (options.limits !== undefined) faults.add('limits', 'belong to the run around this call')
  faults.throwIfAny('The options of a call inside a run are not acceptable', { reason: 'generate.nested' })
}

async function go(
  face: RuntimeFace,
  call: CallScope,
  base: PlanOptions,
  prepare: Prepare,
  recorder: RunRecorder | undefined,
): Promise<CallResultOf> {
  const { plan, messages } = await prepare(call, base)
  const resolved = buildPlan(face.core.parts.providers, plan)
  for (const message of messages) call.add(message)
  call.keepIds(call.messages)
  return generateCall(call, resolved, recorder)
}

function generated(done: CallResultOf, { run, records }: CallScope): Generated {
  return Object.freeze({
    text: done.text,
    output: done.output,
    messages: done.messages,
    finishReason: done.finishReason,
    usage: done.usage,
    toolCalls: Object.freeze([...records]),
    model: done.model,
    provider: done.provider,
    rootExecutionId: run.facts.rootExecutionId,
    receipts: run.tree.receiptCounts(),
  })
}
