import type { ResolvedCaller } from '../../context/caller.js'
import { normalizeCaller } from '../../context/caller.js'
import { environmentFields } from '../../context/environment.js'
import { USAGE_NONE } from '../../messages/usage.js'
import type { ExecutionRecord } from '../../store/records.js'

/** The record of a completed top-level run, with what a test says otherwise. */
export function executionOf(
  change: Partial<ExecutionRecord> & { readonly id: string },
  caller: ResolvedCaller = normalizeCaller({ user: 'petra.k', tenant: 'acme' }),
): ExecutionRecord {
  return {
    ...environmentFields(caller, () => ({})),
    rootExecutionId: change.id,
    parentExecutionId: null,
    depth: 0,
    agentId: 'a1',
    agentCode: 'ap_desk',
    agentVersion: 1,
    agentType: 'profile',
    sessionId: 's1',
    turnIndex: 1,
    status: 'completed',
    input: {},
    followUp: null,
    output: null,
    currentState: null,
    iterationCount: 0,
    toolCallsCount: 0,
    inputTokens: 0,
    outputTokens: 0,
    usage: USAGE_NONE,
    runContext: {},
    labels: [],
    error: null,
    failureKind: null,
    finishReason: null,
    plugins: [],
    hooksOrigin: 'none',
    pending: [],
    decisions: [],
    inFlight: [],
    outerExecutionId: null,
    startedAt: 0,
    completedAt: 0,
    updatedAt: 0,
    ...change,
  }
}
