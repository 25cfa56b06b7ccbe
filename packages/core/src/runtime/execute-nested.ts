import { PassThroughSteps } from '../engine/pass-through-steps.js'
import { Faults } from '../errors/faults.js'
import type { EventSink } from '../generate/event-sink.js'
import { unionLabels } from '../messages/label.js'
import type { CheckedOptions } from './execute-options.js'
import type { Nest } from './nest.js'
import { runNested } from './nested-run.js'
import type { CompletedRun } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'

/** Below a user's handler or a gate there is no journal: the run is nested, and a pause in it is a veto. */
export async function executeNested(
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
