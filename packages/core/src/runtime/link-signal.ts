import type { Tree } from '../generate/tree.js'
import { abortTree } from './runtime-core.js'

/** Ends the tree when the caller's signal fires. One listener per run, taken off at its end. */
export function linkSignal(tree: Tree, signal: AbortSignal | undefined): (() => void) | undefined {
  if (signal === undefined) return undefined
  const onAbort = (): void => abortTree(tree, 'The run was aborted by its caller.', signal.reason)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return () => signal.removeEventListener('abort', onAbort)
}
