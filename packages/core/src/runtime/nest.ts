import { frameOf } from '../context/frame.js'
import type { Frame } from '../context/frame.js'
import type { NestScope } from '../generate/nest-scope.js'
import { runOver } from '../generate/run-over.js'
import type { Tree } from '../generate/tree.js'

/** Where a call that is made now belongs: below a run of this runtime that is executing, or nowhere. */
export interface Nest {
  readonly frame: Frame
  readonly scope: NestScope
  readonly tree: Tree
}

/** The innermost run of this runtime around the call; `undefined` outside one. @throws RUN_OVER where that run has ended */
export function currentNest(runtimeKey: object): Nest | undefined {
  const frame = frameOf(runtimeKey)
  if (frame === undefined) return undefined
  const tree = frame.tree as Tree
  const scope = frame.scope as NestScope
  if (tree.over || scope.run.over) throw runOver(scope.run.facts.executionId ?? tree.rootExecutionId)
  return { frame, scope, tree }
}
