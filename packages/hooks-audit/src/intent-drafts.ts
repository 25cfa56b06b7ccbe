import type {
  BeforeExecutionContext,
  BeforeModelCallContext,
  CommonContext,
  GateReceipt,
  InspectToolInputContext,
  JsonObject,
  JsonValue,
  Label,
} from '@sluice/core'
import type { AuditDraft, AuditEvent } from './audit-entry.js'
import { boundData, boundList } from './bounded.js'

/** Arguments above this many bytes are left out of an entry; their digest stays. */
const MAX_ARGS_BYTES = 24_000
const MAX_ROWS = 200

/** Who and what an effect belongs to. */
export interface EffectOwner
  extends Pick<CommonContext, 'effectId' | 'attempt' | 'executionId' | 'rootExecutionId' | 'tenant'> {
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly agentCode: string | null
}

/** An entry about an effect. */
export function effectDraft(event: AuditEvent, at: number, owner: EffectOwner, data: JsonObject): AuditDraft {
  return {
    event,
    at,
    run: owner.rootExecutionId,
    execution: owner.executionId,
    effectId: owner.effectId,
    attempt: owner.attempt,
    tenant: owner.tenant,
    actor: owner.createdBy,
    session: owner.sessionId,
    app: owner.appId,
    agent: owner.agentCode,
    data,
  }
}

/** The intent of a top-level run. */
export function runIntent(at: number, context: BeforeExecutionContext): AuditDraft {
  return effectDraft('run.intent', at, context, { agentId: context.agentId, ...commonData(context) })
}

/** The intent of a request to a provider. */
export function modelIntent(at: number, context: BeforeModelCallContext): AuditDraft {
  return effectDraft('model.intent', at, context, {
    provider: context.provider,
    model: context.model,
    round: context.round,
    maxOutputTokens: context.maxOutputTokens,
    landing: context.landing,
    tools: boundList(context.tools, MAX_ROWS),
    hostedTools: boundList(
      context.hostedTools.map((tool) => ({ code: tool.code, effect: tool.effect, untrusted: tool.untrusted })),
      MAX_ROWS,
    ),
    ...commonData(context),
  })
}

/** The intent of a tool call. */
export function toolIntent(at: number, context: InspectToolInputContext, recordArguments: boolean): AuditDraft {
  const { tool, decision } = context
  return effectDraft('tool.intent', at, context, {
    tool: context.toolCode,
    callId: context.callId,
    effect: tool.effect,
    untrusted: tool.untrusted,
    definitionDigest: tool.definitionDigest,
    toolCost: tool.cost === null ? null : { usd: tool.cost.usd },
    argsDigest: context.argsDigest,
    ...(recordArguments ? { args: boundData(context.args, MAX_ARGS_BYTES) } : {}),
    ...(decision === undefined
      ? {}
      : {
          decision: {
            decision: decision.decision,
            by: decision.by,
            at: decision.at,
            note: decision.note,
          },
        }),
    ...commonData(context),
  })
}

function commonData(context: CommonContext): JsonObject {
  return {
    depth: context.depth,
    parent: context.parentExecutionId,
    requestId: context.requestId,
    labels: labelRows(context.labels),
    answers: gateRows(context.answers ?? []),
  }
}

/** Where untrusted text came from. */
export function labelRows(labels: readonly Label[]): readonly JsonValue[] {
  return boundList(
    labels.map(({ kind, source }) => ({ kind, source })),
    MAX_ROWS,
  )
}

/** The gates that stood there, in order, and what each of them answered. */
export function gateRows(gates: readonly GateReceipt[]): readonly JsonValue[] {
  return boundList(
    gates.map(({ plugin, point, stage, answer, code }) => ({
      plugin,
      point,
      stage,
      answer,
      ...(code === undefined ? {} : { code }),
    })),
    MAX_ROWS,
  )
}
