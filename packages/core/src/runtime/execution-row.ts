import type { ResolvedAgent } from '../agents/agent-type.js'
import type { RunFacts } from '../context/frame.js'
import type { RunScope } from '../generate/run-scope.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import type { ToolStatus } from '../messages/message.js'
import { totalInput } from '../messages/usage.js'
import type { Usage } from '../messages/usage.js'
import type { EnvironmentFields, ExecutionRecord } from '../store/records.js'
import { USAGE_NONE } from '../messages/usage.js'

/** What a row is made of when its run starts. */
export interface RowStart {
  readonly facts: RunFacts
  readonly agent: ResolvedAgent
  readonly environment: EnvironmentFields
  readonly turnIndex: number | null
  readonly input: JsonObject
  readonly followUp: string | null
  readonly labels: readonly Label[]
  readonly hookSet: HookSet
  readonly outerExecutionId: string | null
  readonly at: number
}

/** The row of a run that starts. */
export function startRow(start: RowStart): ExecutionRecord {
  const { facts, agent, environment, hookSet, at } = start
  // field by field: a spread in front would make this object grow, and be moved, many times
  return {
    createdBy: environment.createdBy,
    tenant: environment.tenant,
    audience: environment.audience,
    appUser: environment.appUser,
    appId: environment.appId,
    appSessionId: environment.appSessionId,
    appPageId: environment.appPageId,
    ipAddress: environment.ipAddress,
    host: environment.host,
    osUser: environment.osUser,
    module: environment.module,
    action: environment.action,
    clientIdentifier: environment.clientIdentifier,
    envContext: environment.envContext,
    id: facts.executionId as string,
    rootExecutionId: facts.rootExecutionId,
    parentExecutionId: facts.parentExecutionId,
    depth: facts.depth,
    agentId: agent.id,
    agentCode: agent.code,
    agentVersion: agent.version,
    agentType: agent.definition.agentType,
    sessionId: facts.sessionId as string,
    turnIndex: start.turnIndex,
    status: 'running',
    input: start.input,
    followUp: start.followUp,
    output: null,
    currentState: null,
    iterationCount: 0,
    toolCallsCount: 0,
    inputTokens: 0,
    outputTokens: 0,
    usage: USAGE_NONE,
    runContext: facts.runContext,
    labels: start.labels,
    error: null,
    failureKind: null,
    finishReason: null,
    plugins: hookSet.stamps,
    hooksOrigin: originOf(hookSet),
    pending: [],
    decisions: [],
    inFlight: [],
    outerExecutionId: start.outerExecutionId,
    startedAt: at,
    completedAt: null,
    updatedAt: at,
  }
}

/** Where a set came from, as records and `explain` show it. */
export function originOf(set: HookSet): string {
  const { kind, path, digest } = set.origin
  return path === null ? kind : `${kind}:${path}#${digest?.slice(0, 16) ?? ''}`
}

/** Own tokens of a run as its row shows them: `null` where the provider reported none. */
export function tokenColumns(usage: Usage): Pick<ExecutionRecord, 'inputTokens' | 'outputTokens' | 'usage'> {
  return { inputTokens: totalInput(usage), outputTokens: usage.outputTokens, usage }
}

const NOT_COUNTED: readonly ToolStatus[] = ['skipped_limit', 'not_run', 'vetoed']

/** Tool calls that got a result of their own (S-4): a stored 0 means that no handler was entered and none was answered for. */
export function countedCalls(run: RunScope): number {
  let count = 0
  for (const call of run.toolCalls) if (!NOT_COUNTED.includes(call.status)) count += 1
  return count
}

/** Columns that a run's end and its pause have in common. */
export function countColumns(
  run: RunScope,
): Pick<ExecutionRecord, 'inputTokens' | 'outputTokens' | 'usage' | 'toolCallsCount'> {
  return {
    ...tokenColumns(run.usage),
    toolCallsCount: countedCalls(run),
  }
}

/** The complete result object of a completed run, with the original's keys (S-5). */
export function outputColumn(
  result: {
    text: string | null
    output: JsonValue | undefined
    finishReason: string
    usage: Usage
    toolCallsCount: number
    model: string | null
    provider: string | null
  },
  ids: { executionId: string; agentCode: string; agentVersion: number; sessionId: string },
): JsonObject {
  const { usage } = result
  return {
    final_message: result.output === undefined ? result.text : result.output,
    ...(result.output === undefined ? {} : { structured_output: result.output }),
    finish_reason: result.finishReason,
    tool_calls_count: result.toolCallsCount,
    usage: {
      prompt_tokens: totalInput(usage),
      completion_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      total_tokens: totalOf(usage),
    },
    model: result.model,
    provider: result.provider,
    execution_id: ids.executionId,
    agent_code: ids.agentCode,
    agent_version: ids.agentVersion,
    session_id: ids.sessionId,
    status: 'completed',
  }
}

function totalOf(usage: Usage): number | null {
  const input = totalInput(usage)
  return input === null ? usage.outputTokens : usage.outputTokens === null ? input : input + usage.outputTokens
}
