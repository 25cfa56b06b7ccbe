import type { RunScope } from '../generate/run-scope.js'
import { describeThrown, nextErrorReference } from '../tools/error-reference.js'

/** Keeps the true error of a run below another one in the error log, and gives its reference (B-21). Never throws. */
export async function logChildError(
  { tree, facts }: RunScope,
  failed: { readonly agentCode: string; readonly effectId: string; readonly error: unknown },
): Promise<string> {
  const { store, clock, logger } = tree.parts
  const at = clock.now()
  const reference = nextErrorReference(at)
  const { agentCode, effectId, error } = failed
  try {
    return await store.toolErrors.insert({
      reference,
      executionId: facts.executionId,
      rootExecutionId: tree.rootExecutionId,
      effectId,
      agentCode,
      toolCode: null,
      ...describeThrown(error),
      tenant: tree.options.tenant,
      at,
    })
  } catch (fault) {
    logger.error(
      { reference, error: describeThrown(error).message, storeError: describeThrown(fault).message },
      'the error of a run could not be written to the error log',
    )
    return reference
  }
}
