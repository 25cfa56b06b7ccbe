import type { JsonObject, Logger } from '@sluice/core'
import type { BudgetEvent } from './budget-event.js'

const SAID = {
  overrun: 'A charge was larger than its hold.',
  unknown: 'Nobody can say what a call has cost; it is booked at what was held.',
  lapsed: 'A hold was not resolved in time; it is booked as unknown.',
} as const

/** Tells `onEvent`, and the log of what somebody should look at. Nothing that `onEvent` does reaches the call. */
export function createTeller(
  logger: Logger,
  onEvent: ((event: BudgetEvent) => unknown) | undefined,
): (events: readonly BudgetEvent[]) => void {
  const failed = (event: BudgetEvent, error: unknown) => {
    const name = error instanceof Error ? error.name : typeof error
    logger.error({ event: event.type, error: name }, 'onEvent failed.')
  }
  return (events) => {
    for (const event of events) {
      if (event.type !== 'threshold') logger.warn(factsOf(event), SAID[event.type])
      try {
        // an async function is a function that returns nothing, too
        const answer = onEvent?.(event)
        if (isThenable(answer)) answer.then(undefined, (error: unknown) => failed(event, error))
      } catch (error) {
        failed(event, error)
      }
    }
  }
}

function factsOf(event: Exclude<BudgetEvent, { readonly type: 'threshold' }>): JsonObject {
  const { type, effectId, attempt } = event
  if (type === 'lapsed') return { event: type, limit: event.limit, effectId, attempt, held: event.held.toString() }
  const limits = event.limits.map((one) => ({
    limit: one.limit,
    held: one.held.toString(),
    ...('charged' in one ? { charged: one.charged.toString(), closed: one.closed } : {}),
  }))
  return { event: type, effectId, attempt, limits }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
