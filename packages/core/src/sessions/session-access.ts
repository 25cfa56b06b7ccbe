import type { ResolvedCaller } from '../context/caller.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { SessionRecord } from '../store/records.js'

/** What the owner of a session is known by. */
type Owner = Pick<SessionRecord, 'tenant' | 'appUser' | 'audience' | 'pausedExecutionId'>

/** A turn that somebody wants to take. */
export interface TurnRequest {
  readonly sessionId: string
  /** The header, `undefined` where there is no such session. */
  readonly header: Owner | undefined
  readonly caller: ResolvedCaller
  /** True for a follow-up, which needs a session that exists. */
  readonly followUp: boolean
}

/**
 * Decides whether a caller may take a turn of a session. It belongs to the tenant and user of its first turn. Callers
 * without a user are one owner only within one audience: an anonymous visitor never carries on what a job began. A session
 * of somebody else and, for a follow-up, one that does not exist get the same answer. A paused turn holds its session.
 *
 * @throws SESSION_FORBIDDEN, SESSION_BUSY
 */
export function checkTurn(turn: TurnRequest): void {
  const { header, caller, sessionId } = turn
  if (header === undefined) {
    if (turn.followUp) throw sessionForbidden(sessionId)
    return
  }
  const sameOwner =
    header.tenant === caller.tenant &&
    header.appUser === caller.user &&
    (caller.user !== null || header.audience === caller.audience)
  if (!sameOwner) throw sessionForbidden(sessionId)
  if (header.pausedExecutionId !== null) {
    throw new SluiceError(
      'SESSION_BUSY',
      `Session '${escapeControl(sessionId, 200)}' waits for a decision about a paused run.`,
      {
        details: { sessionId, pausedExecutionId: header.pausedExecutionId },
        hint: `Decide and resume ${header.pausedExecutionId}, or cancel it.`,
      },
    )
  }
}

/** The one answer for a session that is somebody else's and for one that does not exist. */
export function sessionForbidden(sessionId: string): SluiceError<'SESSION_FORBIDDEN'> {
  return new SluiceError(
    'SESSION_FORBIDDEN',
    `Session '${escapeControl(sessionId, 200)}' does not exist for this tenant and user.`,
    {
      hint: 'Use a session that this caller opened, or leave `sessionId` out.',
    },
  )
}

/** Which optional parts of a call an agent type takes. */
export interface AcceptedArguments {
  /** An answer schema given with the call. */
  readonly output: boolean
  /** Follow-up turns. */
  readonly followUp: boolean
  /** Files beside the user message. */
  readonly files: boolean
}

/** The optional parts of a call that depend on the agent's type. */
export interface CallArguments {
  readonly agentCode: string
  readonly agentType: string
  readonly accepts: AcceptedArguments
  readonly hasOutput: boolean
  readonly hasFiles: boolean
  readonly followUp: string | undefined
  readonly sessionId: string | undefined
}

/**
 * Checks a call against what its agent's type takes, all faults at once; whether there is a conversation to
 * follow up is found when it is loaded (`follow_up.no_history`).
 *
 * @throws INVALID_CONFIG with `reason` `output.type`, `follow_up.type`, `follow_up.no_session` or `files.type` (the first)
 */
export function checkCallArguments(call: CallArguments): void {
  const faults = new Faults()
  let reason: string | undefined
  const add = (place: string, text: string, why: string) => {
    faults.add(place, text)
    reason ??= why
  }
  const kind = `agents of type '${escapeControl(call.agentType, 100)}'`
  if (call.hasOutput && !call.accepts.output) add('output', `is not taken by ${kind}`, 'output.type')
  if (call.followUp !== undefined) {
    if (!call.accepts.followUp) add('followUp', `is not taken by ${kind}`, 'follow_up.type')
    else if (call.sessionId === undefined)
      add('followUp', 'needs the `sessionId` of the conversation', 'follow_up.no_session')
  }
  if (call.hasFiles && !call.accepts.files) add('files', `are not taken by ${kind}`, 'files.type')
  if (reason === undefined) return
  faults.throwIfAny(`The call of agent '${escapeControl(call.agentCode, 200)}' is not acceptable`, { reason })
}
