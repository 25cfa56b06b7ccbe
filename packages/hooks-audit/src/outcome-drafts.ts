import type {
  AfterExecutionContext,
  AfterModelCallContext,
  AfterToolCallContext,
  ErrorSnapshot,
  JsonObject,
  JsonValue,
  OnStopContext,
  Receipt,
  Usage,
} from '@sluice/core'
import type { AuditDraft } from './audit-entry.js'
import { boundData } from './bounded.js'
import { effectDraft, gateRows, labelRows } from './intent-drafts.js'

/** How a request to a provider ended. `costUsd`: as the owner's own function has it. */
export function modelOutcome(at: number, context: AfterModelCallContext, costUsd: string | null): AuditDraft {
  return effectDraft('model.outcome', at, context, {
    provider: context.provider,
    model: context.model,
    answeredModel: context.answeredModel,
    usage: usageRow(context.usage),
    finishReason: context.finishReason,
    costUsd,
    ...endData(context),
  })
}

/** How a tool call ended. */
export function toolOutcome(at: number, context: AfterToolCallContext): AuditDraft {
  return effectDraft('tool.outcome', at, context, {
    tool: context.toolCode,
    callId: context.callId,
    effect: context.tool.effect,
    argsDigest: context.argsDigest,
    resultDigest: context.resultDigest,
    toolCost: context.tool.cost === null ? null : { usd: context.tool.cost.usd },
    errorReference: context.errorReference,
    ...endData(context),
  })
}

/** How a top-level run ended. */
export function runOutcome(at: number, context: AfterExecutionContext): AuditDraft {
  const owner = { ...pickRun(context), effectId: context.effectId, attempt: context.receipt?.attempt ?? 1 }
  return effectDraft('run.outcome', at, owner, {
    status: context.status,
    failure: context.failure === null ? null : { kind: context.failure.kind, error: errorRow(context.failure.error) },
    usage: usageRow(context.usage),
    treeUsage: usageRow(context.treeUsage),
    recovered: context.recovered,
    answers: askedGates(context.receipt),
  })
}

/** A stop, a refusal or a pause. */
export function stopDraft(at: number, context: OnStopContext): AuditDraft {
  return {
    ...effectDraft(
      'stop',
      at,
      { ...context, effectId: '', attempt: 0, appId: null },
      {
        point: context.point,
        plugin: context.plugin,
        answer: context.answer,
        code: context.code,
        reason: context.reason,
        details: boundData(context.details),
        answers: askedGates(context.receipt),
      },
    ),
    effectId: context.effectId,
    attempt: context.attempt,
  }
}

function pickRun(context: AfterExecutionContext) {
  const { executionId, rootExecutionId, tenant, createdBy, sessionId, appId, agentCode } = context
  return { executionId, rootExecutionId, tenant, createdBy, sessionId, appId, agentCode }
}

function endData(context: AfterModelCallContext | AfterToolCallContext): JsonObject {
  return {
    outcome: context.outcome,
    sent: context.sent,
    durationMs: context.durationMs,
    error: errorRow(context.error),
    labels: labelRows(context.labels),
    answers: askedGates(context.receipt),
  }
}

/** Name and code; the message stays out: it may hold what a provider or a handler quotes. */
function errorRow(error: ErrorSnapshot | null): JsonObject | null {
  return error === null ? null : { name: error.name, code: error.code }
}

function usageRow(usage: Usage | null): JsonObject | null {
  return usage === null ? null : { ...usage }
}

function askedGates(receipt: Receipt | null): readonly JsonValue[] {
  return gateRows((receipt?.askings ?? []).flatMap((asking) => asking.gates))
}
