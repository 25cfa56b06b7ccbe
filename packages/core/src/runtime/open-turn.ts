import type { ResolvedCaller } from '../context/caller.js'
import { SluiceError } from '../errors/sluice-error.js'
import { checkTurn } from '../sessions/session-access.js'
import type { SessionRecord } from '../store/records.js'
import { cancelExpired } from './cancel-paused.js'
import type { CheckedOptions } from './execute-options.js'
import type { RuntimeFace } from './runtime-core.js'

/** Takes the turn of a session, waiting in line where the settings say so; a caller that is aborted meanwhile leaves the line. */
export async function takeTurn(
  face: RuntimeFace,
  sessionId: string,
  executionId: string,
  signal: AbortSignal | undefined,
): Promise<() => unknown> {
  const { store, settings } = face.core.parts
  const wait = settings.sameSession === 'queue'
  try {
    return await store.sessions.acquire(sessionId, executionId, signal === undefined ? { wait } : { wait, signal })
  } catch (error) {
    throw signal?.aborted === true ? abortedBefore(signal.reason) : error
  }
}

/** The header of a session whose turn may be taken. A pause that has expired does not hold it: that run is ended first. */
export async function openSession(
  face: RuntimeFace,
  options: CheckedOptions,
  sessionId: string,
  caller: ResolvedCaller,
): Promise<SessionRecord | undefined> {
  const { sessions } = face.core.parts.store
  const followUp = options.followUp !== undefined
  const header = await sessions.get(sessionId)
  try {
    checkTurn({ sessionId, header, caller, followUp })
    return header
  } catch (error) {
    const paused = SluiceError.isInstance(error, 'SESSION_BUSY') ? header?.pausedExecutionId : undefined
    if (paused == null || !(await cancelExpired(face, paused))) throw error
  }
  const freed = await sessions.get(sessionId)
  checkTurn({ sessionId, header: freed, caller, followUp })
  return freed
}

/** The caller of a run had aborted before it began. */
export function abortedBefore(cause: unknown): SluiceError {
  return new SluiceError('RUN_ABORTED', 'The run was aborted before it began; nothing was asked, sent or written.', {
    cause,
  })
}
