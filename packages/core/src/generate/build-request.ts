import { SluiceError } from '../errors/sluice-error.js'
import type { ModelRequest, OfferedTool } from '../providers/model-provider.js'
import type { CallPlan, ModelTarget } from './call-plan.js'
import type { CallScope } from './call-scope.js'

const NO_TOOLS: readonly OfferedTool[] = Object.freeze([])
const NO_OPTIONS = Object.freeze({})

/** What a landing changes in the last request of a run: no tools, and a smaller output cap. */
export interface Landing {
  readonly maxOutputTokens: number | undefined
}

/** The request of the next round: everything the adapter needs, frozen. */
export function buildRequest(
  call: CallScope,
  plan: CallPlan,
  target: ModelTarget,
  landing: Landing | undefined,
): ModelRequest {
  const cap = plan.settings.maxOutputTokens
  const request: ModelRequest = {
    model: target.model,
    messages: Object.freeze([...call.messages]),
    tools: landing === undefined ? plan.offered : NO_TOOLS,
    hostedTools:
      landing === undefined
        ? plan.offeredHosted.filter((_, index) => plan.hosted[index]?.provider === target.provider.id)
        : [],
    ...(plan.toolChoice === undefined || landing !== undefined ? {} : { toolChoice: plan.toolChoice }),
    ...(plan.output === undefined ? {} : { output: plan.output.format }),
    maxOutputTokens: landing?.maxOutputTokens === undefined ? cap : Math.min(cap, landing.maxOutputTokens),
    ...(plan.reasoning === undefined ? {} : { reasoning: plan.reasoning }),
    ...(plan.temperature === undefined ? {} : { temperature: plan.temperature }),
    ...(plan.topP === undefined ? {} : { topP: plan.topP }),
    ...(plan.stopSequences === undefined ? {} : { stopSequences: plan.stopSequences }),
    ...ownOptions(plan, target),
  }
  checkSize(call, target, request)
  return Object.freeze(request)
}

/** Raw options and the connection, with its key, belong to the provider that the call was made to: no fallback gets them. */
function ownOptions(plan: CallPlan, target: ModelTarget): Pick<ModelRequest, 'providerOptions' | 'connection'> {
  if (target.provider !== plan.targets[0]?.provider) return NO_OPTIONS
  return {
    ...(plan.providerOptions === undefined ? {} : { providerOptions: plan.providerOptions }),
    ...(plan.connection === undefined ? {} : { connection: plan.connection }),
  }
}

/** Three bytes a UTF-16 unit is the most that UTF-8 takes: only a conversation near the bound is measured exactly. */
function checkSize(call: CallScope, target: ModelTarget, request: ModelRequest): void {
  const bound = call.tree.limits.requestBytes
  if (call.units * 3 < bound) return
  const bytes = target.provider.inputTokensAtMost?.(request) ?? Buffer.byteLength(JSON.stringify(request))
  if (bytes <= bound) return
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    `The request to ${target.provider.id}/${target.model} has ${bytes} bytes; at most ${bound} are sent.`,
    {
      hint: 'Shorten the history (maxHistoryMessages), or raise limits.requestBytes.',
      details: { limit: 'requestBytes', bound, bytes },
    },
  )
}

/** The upper bound of input tokens of a request, as the adapter tells it or from the request as JSON. */
export function inputTokensAtMost(target: ModelTarget, request: ModelRequest): number | null {
  if (target.provider.inputTokensAtMost !== undefined) return target.provider.inputTokensAtMost(request)
  for (const message of request.messages) {
    if (typeof message.content !== 'string' && message.content.some((part) => part.type === 'file')) return null
  }
  return Buffer.byteLength(JSON.stringify(request))
}
