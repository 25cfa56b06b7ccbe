import type { EnvironmentFields, ExecutionStatus, SessionRecord } from '../store/records.js'

/** Facts of a turn that begins. */
export interface TurnOpening {
  readonly sessionId: string
  readonly agentId: string
  readonly environment: EnvironmentFields
  /** The effective run context of the turn: it becomes that of the session. */
  readonly runContext: SessionRecord['runContext']
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Facts of a turn that ends or pauses. */
export interface TurnClosing {
  readonly status: ExecutionStatus
  /** Tokens of all runs of the turn's tree that this header does not hold yet; `null` where none were reported. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** Rows of the session's log after the turn, as the store counts them; left out where no row was appended. */
  readonly messageCount?: number
  /** The execution that waits for a human; only with status `paused`. */
  readonly pausedExecutionId?: string
  readonly at: number
}

/**
 * The header when a top-level turn begins: a new one for the first turn, else one turn more. `turnCount` of the result is the
 * turn's `turnIndex`. Environment, agent, title and feedback stay those of the opening turn (S-25 to S-27).
 */
export function openTurn(current: SessionRecord | undefined, turn: TurnOpening): SessionRecord {
  const opened = current ?? newHeader(turn)
  return {
    ...opened,
    status: 'running',
    turnCount: opened.turnCount + 1,
    runContext: turn.runContext,
    pausedExecutionId: null,
    lastActivityAt: turn.at,
    updatedAt: turn.at,
  }
}

/** The header when a turn ends or pauses: its status, also a failed one (S-28), and totals with the turn's tokens (S-21). */
export function closeTurn(current: SessionRecord, turn: TurnClosing): SessionRecord {
  return {
    ...current,
    status: turn.status,
    messageCount: turn.messageCount ?? current.messageCount,
    inputTokens: addTokens(current.inputTokens, turn.inputTokens),
    outputTokens: addTokens(current.outputTokens, turn.outputTokens),
    pausedExecutionId: turn.status === 'paused' ? (turn.pausedExecutionId ?? current.pausedExecutionId) : null,
    lastActivityAt: turn.at,
    updatedAt: turn.at,
  }
}

/** The header when a paused turn goes on: the same turn, so nothing is counted. */
export function continueTurn(current: SessionRecord, at: number): SessionRecord {
  return { ...current, status: 'running', pausedExecutionId: null, lastActivityAt: at, updatedAt: at }
}

function newHeader(turn: TurnOpening): SessionRecord {
  const { environment } = turn
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
    sessionId: turn.sessionId,
    rootAgentId: turn.agentId,
    title: null,
    feedbackRating: null,
    feedbackComment: null,
    feedbackAt: null,
    status: 'running',
    turnCount: 0,
    messageCount: 0,
    inputTokens: 0,
    outputTokens: 0,
    runContext: turn.runContext,
    pausedExecutionId: null,
    startedAt: turn.at,
    lastActivityAt: turn.at,
    updatedAt: turn.at,
  }
}

/** A total stays "not reported" only until the first report. */
function addTokens(total: number | null, more: number | null): number | null {
  if (more === null) return total
  return total === null ? more : total + more
}
