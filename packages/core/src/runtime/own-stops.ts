import type { ResolvedAgent } from '../agents/agent-type.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RunScope } from '../generate/run-scope.js'
import { StopSource } from '../internal/stop-source.js'
import type { NestedRun } from './nested-run.js'
import { RunTimer } from './run-timer.js'

/** What can end a nested run alone. */
export interface OwnStops {
  readonly stops: StopSource
  readonly timer: RunScope['timer']
  release(): void
}

/**
 * A nested agent's own timeout, or the signal of its caller, ends that run and is no stop of the tree. What the run took before
 * a pause counts, the pause does not.
 */
export function ownStops(nested: NestedRun, agent: ResolvedAgent, elapsedBefore: number): OwnStops {
  const { parent, signal } = nested
  const seconds = agent.definition.timeoutSeconds
  if (seconds === null && signal === undefined)
    return { stops: parent.stops, timer: undefined, release: () => undefined }
  const stops = new StopSource()
  const follow = (reason: unknown): void => void stops.stop(reason)
  parent.stops.listen(follow)
  const { deadlines, clock } = parent.tree.parts
  const timer = seconds === null ? undefined : new RunTimer(clock, elapsedBefore)
  const deadline =
    seconds === null
      ? undefined
      : deadlines.add(Math.max(1, seconds * 1000 - elapsedBefore), clock.monotonic(), () => {
          stops.stop(
            new SluiceError('RUN_TIMEOUT', `Agent "${agent.code}" took longer than its timeout of ${seconds} s.`, {
              details: { agentCode: agent.code, timeoutSeconds: seconds },
            }),
          )
        })
  const onAbort = (): void =>
    void stops.stop(
      new SluiceError('RUN_ABORTED', `The nested run of agent "${agent.code}" was aborted.`, { cause: signal?.reason }),
    )
  if (signal?.aborted === true) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  return {
    stops,
    timer,
    release: () => {
      timer?.stop()
      parent.stops.unlisten(follow)
      if (deadline !== undefined) deadlines.remove(deadline)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}
