import type { AnswerOrigin } from '../errors/answers.js'
import { Veto } from '../errors/answers.js'
import type { SluiceError } from '../errors/sluice-error.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Receipt } from '../hooks/receipt.js'
import type { CallScope } from './call-scope.js'

/** A reply that `inspectReply` refused. */
export interface RefusedReply {
  readonly code: string
  readonly text: string
  readonly by?: AnswerOrigin
  readonly receipt?: Receipt
}

/**
 * A refusal after which the model is not asked again is a veto of the gate that gave it: the second one in a row, and that of
 * the last reply of a landing. Returns the error that leaves the run.
 */
export async function endRefused(call: CallScope, refused: RefusedReply, twice: boolean): Promise<SluiceError> {
  const { code, text, by = { plugin: 'sluice', point: 'inspectReply' }, receipt } = refused
  const veto = twice
    ? new Veto('REFUSED_TWICE', `Two replies in a row were refused (${code}): ${text}`, { code }, { by })
    : new Veto(
        'LANDING_REFUSED',
        `The last reply of a run that is landing was refused (${code}): ${text}`,
        { code },
        { by },
      )
  const stop: GateStop = { answer: 'vetoed', error: veto, by }
  const error = call.tree.endByGate(stop)
  await call.tree.tellGateStop(stop, receipt ?? null, {
    effectId: call.effectId(`m${call.requests}`),
    attempt: receipt?.attempt ?? 1,
    executionId: call.run.facts.executionId,
    agentCode: call.run.facts.agentCode,
    sessionId: call.run.facts.sessionId,
  })
  return error
}
