import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { Ids } from '../internal/ids.js'
import type { JsonObject } from '../internal/json.js'
import type { Message } from '../messages/message.js'
import type { MessageRecord, NewMessageRecord } from '../store/records.js'
import type { ExecutionRepository, MessageRepository } from '../store/store.js'
import type { LoggedMessage } from './logged-messages.js'
import { loggedMessages } from './logged-messages.js'
import { toRows } from './message-rows.js'
import { repairHistory } from './repair-history.js'

const PAGE = 500

/** Which conversation to load. */
export interface HistoryRequest {
  readonly sessionId: string
  readonly agentCode: string
  /** A run whose own rows are no history: the one that is resumed. */
  readonly except?: string
  readonly ids: Ids
  /** Milliseconds since the epoch, for rows that repair the log. */
  readonly at: number
}

/** The earlier conversation of a turn. */
export interface EarlierTurns {
  /** Valid for every protocol: system message of the first turn, then everything said since, calls and results included. */
  readonly messages: readonly Message[]
  /** Who made each message: the code of an agent, `null` for what the caller gave (S-43). */
  readonly by: readonly (string | null)[]
  /** The result of the last completed turn, as its row keeps it (S-5); `null` where there is none. */
  readonly output: JsonObject | null
}

/** What a first turn follows. */
export const NO_EARLIER_TURNS: EarlierTurns = Object.freeze({
  messages: Object.freeze([]),
  by: Object.freeze([]),
  output: null,
})

/** {@link EarlierTurns} as they are loaded. */
export interface LoadedHistory extends EarlierTurns {
  /**
   * Rows that make the stored log valid too; append them once, when the turn has passed its gates. They belong to the turns
   * that were interrupted. Empty in all but that case.
   */
  readonly repairRows: readonly NewMessageRecord[]
}

/** The two repositories that a history is read from. */
export interface HistoryStore {
  readonly executions: Pick<ExecutionRepository, 'list'>
  readonly messages: Pick<MessageRepository, 'list'>
}

/**
 * Loads the conversation that a follow-up turn carries on: that of the last completed top-level run of this
 * agent in the session, built from the message log (S-46) and never from a trimmed result. It begins with the completed run
 * that opened the conversation; follow-ups that failed belong to it, with what they got to. What a gate took back does not.
 * Reads only; the session must have been found to belong to the caller.
 *
 * @throws INVALID_CONFIG (`reason` `follow_up.no_history`) where this agent has completed no run in this session
 */
export async function loadHistory(store: HistoryStore, request: HistoryRequest): Promise<LoadedHistory> {
  const [turns, rows] = await Promise.all([turnsOf(store, request), allRows(store, request.sessionId)])
  if (turns === undefined) {
    throw new SluiceError(
      'INVALID_CONFIG',
      `Agent '${escapeControl(request.agentCode, 200)}' has no completed run in session '${escapeControl(request.sessionId, 200)}', so there is nothing to follow up.`,
      {
        reason: 'follow_up.no_history',
        hint: 'Start with `input`; give `followUp` in a later turn of the same session.',
      },
    )
  }
  const logged = loggedMessages(rows.filter((row) => turns.ids.has(row.executionId))).filter((entry) => !entry.withheld)
  const history = logged.map((entry) => entry.message)
  const { messages, added } = repairHistory(history)
  const repairRows = added.flatMap(({ assistantIndex, result }) =>
    repairRow(logged, assistantIndex, { role: 'tool', content: [result] }, request),
  )
  return { messages, by: producers(messages, logged), output: turns.output, repairRows }
}

/** A message that the repair made belongs to whoever asked for it. */
function producers(messages: readonly Message[], logged: readonly LoggedMessage[]): readonly (string | null)[] {
  const known = new Map(logged.map((entry) => [entry.message, entry.agentCode]))
  let last: string | null = null
  return messages.map((message) => {
    const by = known.get(message)
    if (by !== undefined) last = by
    return last
  })
}

interface Turns {
  readonly ids: ReadonlySet<string>
  readonly output: JsonObject | null
}

/** Executions of the conversation, or `undefined` where no run has completed. Runs come newest first. */
async function turnsOf(store: HistoryStore, request: HistoryRequest): Promise<Turns | undefined> {
  const { sessionId, agentCode } = request
  const ids = new Set<string>()
  let output: JsonObject | null = null
  let after: string | null | undefined
  while (after !== null) {
    const page = await store.executions.list({
      sessionId,
      agentCode,
      level: 'top',
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    })
    for (const run of page.items) {
      if (run.id === request.except) continue
      if (run.status === 'completed') output ??= run.output as JsonObject | null
      if (run.followUp !== null) ids.add(run.id)
      else if (run.status === 'completed') return { ids: ids.add(run.id), output }
    }
    after = page.next
  }
  return undefined
}

async function allRows(store: HistoryStore, sessionId: string): Promise<readonly MessageRecord[]> {
  let rows = await store.messages.list(sessionId, { limit: PAGE })
  for (let page = rows; page.length === PAGE; ) {
    page = await store.messages.list(sessionId, { limit: PAGE, afterSeq: (page[PAGE - 1] as MessageRecord).seq })
    rows = rows.concat(page)
  }
  return rows
}

/** The row of a made-up result: it takes the number of the tool message of its round, else that of the message that asked. */
function repairRow(
  logged: readonly LoggedMessage[],
  assistantIndex: number,
  message: Message,
  request: HistoryRequest,
): NewMessageRecord[] {
  const asked = logged[assistantIndex] as LoggedMessage
  const next = logged[assistantIndex + 1]
  const answered = next?.message.role === 'tool' && next.executionId === asked.executionId ? next : asked
  return toRows([message], {
    sessionId: request.sessionId,
    executionId: asked.executionId,
    agentCode: asked.agentCode,
    ids: request.ids,
    at: request.at,
    firstMessageIndex: answered.messageIndex,
    firstRound: asked.round,
  })
}
