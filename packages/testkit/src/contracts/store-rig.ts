import assert from 'node:assert/strict'
import type {
  DefinitionRecord,
  ErrorCode,
  ExecutionRecord,
  JsonValue,
  NewMessageRecord,
  SessionRecord,
  Store,
  ToolErrorRecord,
} from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { ContractRow } from './contract-row.js'

/** Opens a fresh, empty store. */
export type OpenStore = () => Store | Promise<Store>

/** What a store can do besides the contract. */
export interface StoreContractOptions {
  /**
   * Closes the store and opens again what it kept. Without it the rows about a restart are skipped, visibly: right for a
   * store that keeps nothing.
   */
  readonly restart?: (store: Store) => Promise<Store>
}

/** Makes a row that is checked on a fresh store, which is closed afterwards. */
export type MakeStoreRow = (title: string, check: (store: Store) => Promise<void>) => ContractRow

/** @see MakeStoreRow */
export function storeRowsOf(openStore: OpenStore): MakeStoreRow {
  return (title, check) => ({
    title,
    async run() {
      const store = await openStore()
      try {
        await check(store)
      } finally {
        await store.close()
      }
    },
  })
}

/** Checks that `work` is refused with this code. Returns the error. */
export async function refused(code: ErrorCode, work: () => unknown, subject = 'it'): Promise<SluiceError> {
  try {
    await work()
  } catch (error) {
    assert.ok(SluiceError.isInstance(error), `a SluiceError ${code} was expected, not ${String(error)}`)
    assert.equal(error.code, code, error.message)
    return error
  }
  return assert.fail(`${subject} was not refused with ${code}`)
}

/** Checks that `work` rejects with this very value. */
export async function rejectsWith(reason: unknown, work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    assert.equal(error, reason)
    return
  }
  assert.fail('it did not reject')
}

/** Values as they are without prototypes and frozen states, as a comparison of data wants them. */
export function plain<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value)
}

/** Numbers from 0 up to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** The number that a document holds; 0 where there is none. */
export function numberIn(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

const ENVIRONMENT = {
  createdBy: 'petra.k',
  tenant: 'acme',
  audience: 'authenticated',
  appUser: 'petra.k',
  appId: '100',
  appSessionId: null,
  appPageId: null,
  ipAddress: null,
  host: null,
  osUser: null,
  module: null,
  action: null,
  clientIdentifier: null,
  envContext: { user: 'petra.k' },
} as const

/** The row of a run that started at millisecond 1 000. */
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
    runContext: { clerk: 'petra.k', limit: 5, urgent: false },
    labels: [],
    error: null,
    failureKind: null,
    finishReason: null,
    plugins: [{ name: 'budget', version: '1.0.0', optionsDigest: 'abc' }],
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

/** The header of a session that was last active at millisecond 1 000. */
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
export function messageRow(
  sessionId: string,
  content: string,
  fields: Partial<NewMessageRecord> = {},
): NewMessageRecord {
  return {
    id: `message ${content.slice(0, 40)}`,
    sessionId,
    executionId: 'run-1',
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
    ...fields,
  }
}

/** A draft of version 1. */
export function definitionRow(id: string, code: string, fields: Partial<DefinitionRecord> = {}): DefinitionRecord {
  return {
    id,
    code,
    version: 1,
    status: 'draft',
    definition: { description: `Definition of ${code}`, tools: ['a', 'b'] },
    digest: `digest of ${id}`,
    origin: 'store',
    createdBy: 'petra.k',
    createdAt: 1_000,
    updatedBy: null,
    updatedAt: 1_000,
    ...fields,
  }
}

/** The true error behind a reference. */
export function toolErrorRow(reference: string, message = 'table missing'): ToolErrorRecord {
  return {
    reference,
    executionId: 'run-1',
    rootExecutionId: 'run-1',
    effectId: 'effect-1',
    agentCode: 'ap_desk',
    toolCode: 'ap_approve',
    name: 'Error',
    message,
    stack: null,
    tenant: 'acme',
    at: 1_000,
  }
}
