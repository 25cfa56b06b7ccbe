import type { DefinitionRecord, ExecutionRecord, NewMessageRecord, SessionRecord } from '@sluice/core'

const ENVIRONMENT = {
  createdBy: 'petra.k',
  tenant: null,
  audience: 'db',
  appUser: null,
  appId: null,
  appSessionId: null,
  appPageId: null,
  ipAddress: null,
  host: null,
  osUser: null,
  module: null,
  action: null,
  clientIdentifier: null,
  envContext: {},
} as const

/** The row of a run that has started. */
export function executionRow(id: string, fields: Partial<ExecutionRecord> = {}): ExecutionRecord {
  return {
    ...ENVIRONMENT,
    id,
    rootExecutionId: id,
    parentExecutionId: null,
    depth: 0,
    agentId: 'agent-1',
    agentCode: 'ap_desk',
    agentVersion: 1,
    agentType: 'profile',
    sessionId: 'session-1',
    turnIndex: 1,
    status: 'running',
    input: { question: 'Why?' },
    followUp: null,
    output: null,
    currentState: null,
    iterationCount: 0,
    toolCallsCount: 0,
    inputTokens: null,
    outputTokens: null,
    usage: {
      inputTokens: null,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      outputTokens: null,
      reasoningTokens: null,
      unreportedCalls: 1,
    },
    runContext: {},
    labels: [],
    error: null,
    failureKind: null,
    finishReason: null,
    plugins: [],
    hooksOrigin: 'plugins',
    pending: [],
    decisions: [],
    inFlight: [],
    outerExecutionId: null,
    startedAt: 1_000,
    completedAt: null,
    updatedAt: 1_000,
    ...fields,
  }
}

/** The header of a session. */
export function sessionRow(sessionId: string, fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    ...ENVIRONMENT,
    sessionId,
    rootAgentId: 'agent-1',
    title: null,
    feedbackRating: null,
    feedbackComment: null,
    feedbackAt: null,
    status: 'running',
    turnCount: 1,
    messageCount: 0,
    inputTokens: null,
    outputTokens: null,
    runContext: {},
    pausedExecutionId: null,
    startedAt: 1_000,
    lastActivityAt: 1_000,
    updatedAt: 1_000,
    ...fields,
  }
}

/** A row of the message log that has no number yet. */
export function messageRow(sessionId: string, content: string): NewMessageRecord {
  return {
    id: content,
    sessionId,
    executionId: 'run-3',
    role: 'user',
    content,
    agentCode: null,
    toolName: null,
    toolCallId: null,
    toolInput: null,
    toolOutput: null,
    toolStatus: null,
    errorReference: null,
    messageIndex: 0,
    round: 0,
    part: null,
    createdAt: 1_000,
  }
}

/** A draft of version 1. */
export function definitionRow(id: string, code: string): DefinitionRecord {
  return {
    id,
    code,
    version: 1,
    status: 'draft',
    definition: { description: `Definition of ${code}` },
    digest: `digest of ${id}`,
    origin: 'store',
    createdBy: 'petra.k',
    createdAt: 1_000,
    updatedBy: null,
    updatedAt: 1_000,
  }
}
