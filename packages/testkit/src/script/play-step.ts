import type { ModelRequest } from '@sluice/core'
import { ProviderError } from '@sluice/core'
import { testkitError } from '../testkit-error.js'
import type { RawStep, ScriptStep, StepCall } from './script-step.js'
import { ScriptedReply } from './scripted-reply.js'
import { untilAborted } from './until-aborted.js'

/** The call that a step answers. */
export interface PlayedCall extends StepCall {
  readonly provider: string
  readonly request: ModelRequest
}

/** Follows functions, latches and hangs until a reply or a raw value is there; throws where the step fails. */
export async function playStep(step: ScriptStep, call: PlayedCall): Promise<ScriptedReply | RawStep> {
  let current = step
  for (;;) {
    if (typeof current === 'string') return new ScriptedReply().text(current)
    if (typeof current === 'function') {
      current = await current(call.request, { number: call.number, mode: call.mode, signal: call.signal })
      continue
    }
    switch (current?.kind) {
      case 'reply':
      case 'raw':
        return current
      case 'held':
        await current.latch.wait(call.signal)
        current = current.step
        continue
      case 'repeat':
        current = current.step
        continue
      case 'hang':
        return current.ignoreSignal ? new Promise<never>(() => {}) : untilAborted(call.signal)
      case 'throw':
        throw current.value
      case 'provider_error':
        throw new ProviderError(current.code, current.message ?? `The scripted provider fails with ${current.code}.`, {
          ...current.options,
          provider: call.provider,
          model: call.request.model,
        })
      default:
        throw testkitError(
          'SCRIPT_INVALID',
          `A step function of the scripted provider "${call.provider}" gave no step.`,
        )
    }
  }
}
