import { normalizeCaller } from '../context/caller.js'
import type { Caller, ResolvedCaller } from '../context/caller.js'
import type { Frame, RunFacts } from '../context/frame.js'
import { RunScope } from '../generate/run-scope.js'
import type { NestScope } from '../generate/nest-scope.js'
import type { Tree } from '../generate/tree.js'
import type { ExecutionRecord } from '../store/records.js'

/** The caller of a recorded run: as the pause stored it, else as far as the columns tell. Who stands in records is not decided anew. */
export function callerOf(record: ExecutionRecord, stored: Caller | undefined): ResolvedCaller {
  const caller = normalizeCaller(
    stored ?? {
      user: record.appUser,
      tenant: record.tenant,
      audience: record.audience,
      appId: record.appId,
    },
  )
  return Object.freeze({ ...caller, createdBy: record.createdBy })
}

/** A scope for a run that nobody executes: for its record and its last observers. */
export function scopeOf(tree: Tree, record: ExecutionRecord): RunScope {
  const facts: RunFacts = Object.freeze({
    agentId: record.agentId,
    agentCode: record.agentCode,
    executionId: record.id,
    parentExecutionId: record.parentExecutionId,
    rootExecutionId: record.rootExecutionId,
    depth: record.depth,
    sessionId: record.sessionId,
    createdBy: record.createdBy,
    runContext: record.runContext,
  })
  const run = new RunScope({
    tree,
    facts,
    parent: undefined,
    stops: tree.stops,
    labels: [],
    gatePoints: undefined,
    resources: undefined,
    hookSet: tree.hookSet,
    pausable: false,
  })
  run.usage = record.usage
  return run
}

/** The frame in which the last observers of such a run are told: they see its state and its caller, as in a run that ends. */
export function closingFrame(run: RunScope, caller: ResolvedCaller): Frame {
  const { tree, facts } = run
  const scope: NestScope = { run, path: '', next: 0 }
  const frame: Frame = {
    runtimeKey: tree.parts.runtimeKey,
    outer: undefined,
    tree,
    caller,
    run: facts,
    requestId: undefined,
    gate: undefined,
    scope,
  }
  tree.frame = frame
  return frame
}
