import { SluiceError } from '../errors/sluice-error.js'
import type { TopRun } from './top-run.js'

/** Ends a top-level run after the timeout of its agent. Returns what disarms it. */
export function armTimeout(top: TopRun): (() => void) | undefined {
  const seconds = top.agent.definition.timeoutSeconds
  if (seconds === null) return undefined
  const { deadlines, clock } = top.tree.parts
  // what it took before a pause counts, the pause does not
  const left = top.resumed === undefined ? seconds * 1000 : Math.max(1, seconds * 1000 - top.tree.bounds.elapsedMs)
  const deadline = deadlines.add(left, clock.monotonic(), () => {
    const error = new SluiceError(
      'RUN_TIMEOUT',
      `Agent "${top.agent.code}" took longer than its timeout of ${seconds} s.`,
      { details: { agentCode: top.agent.code, timeoutSeconds: seconds } },
    )
    top.tree.end({ error, kind: 'timeout', status: 'timeout' })
  })
  return () => deadlines.remove(deadline)
}
