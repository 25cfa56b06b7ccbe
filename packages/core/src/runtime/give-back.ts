import { describeError } from '../hooks/observe.js'
import type { Logger } from '../internal/logger.js'

/** Gives back the turn of a session and the set of plugins; a store that fails at it hides neither the result nor the error. */
export async function giveBack(
  release: (() => unknown) | undefined,
  held: { release(): void },
  logger: Logger,
): Promise<void> {
  try {
    await release?.()
  } catch (error) {
    logger.error({ error: describeError(error) }, 'the turn of a session could not be given back')
  } finally {
    held.release()
  }
}
