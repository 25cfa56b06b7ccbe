import { SluiceError } from '../errors/sluice-error.js'

/** A call was made inside a run that has ended, or has not ended when that run did. */
export function runOver(rootExecutionId: string): SluiceError {
  return new SluiceError('RUN_OVER', `A call was made inside run ${rootExecutionId}, which has ended.`, {
    hint: 'Await it before the handler returns, or start it with runtime.detached(() => ...).',
    details: { rootExecutionId },
  })
}
