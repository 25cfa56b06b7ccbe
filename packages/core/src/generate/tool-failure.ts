import { HookFailedError } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import { isPlainObject } from '../internal/json.js'
import { unionLabels } from '../messages/label.js'
import {
  describeThrown,
  errorReferenceText,
  nextErrorReference,
  rawErrorText,
  wantsErrorReference,
} from '../tools/error-reference.js'
import { toResultText } from '../tools/result-text.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { CallPlan } from './call-plan.js'
import type { CallScope } from './call-scope.js'
import type { Effect } from './effect.js'
import type { HandlerEnd } from './handler-end.js'
import type { CallResult, RoundCall } from './round-call.js'

/** A result carries the labels of the request that led to it, and its own where the tool brings text from outside. */
export function labelled(call: CallScope, tool: ToolDefinition, result: CallResult): CallResult {
  const labels = unionLabels(unionLabels(call.labels, tool.labels), result.labels)
  return labels.length === 0 ? result : { ...result, labels }
}

/**
 * A handler failed: the true error goes to the error log under a reference that survives whatever the caller rolls back;
 * then the policy decides. What the model reads is the reference only, unless raw texts were asked for.
 */
export async function failed(
  call: CallScope,
  plan: CallPlan,
  entry: RoundCall,
  effect: Effect,
  error: unknown,
  end: HandlerEnd,
): Promise<CallResult> {
  const tool = entry.tool as ToolDefinition
  const reference = await logError(call, effect, tool, error)
  if (end.ending.outcome === 'ok') end.ending = { outcome: 'error', sent: 'yes', error }
  // what went wrong in a run of its own is never told in its words, whoever asked for those of handlers (O-12, O-22)
  const raw = plan.settings.exposeToolErrors && tool.agent === null
  const text = raw ? rawErrorText(error) : errorReferenceText(reference)
  const result: CallResult = {
    status: 'error',
    text: toResultText(text, tool.code, call.tree.limits.toolResultBytes).text,
    errorReference: reference,
  }
  const policy =
    plan.settings.onToolError === 'provider'
      ? ((call.answeredBy ?? plan.targets[0]?.provider)?.defaults.onToolError ?? 'throw')
      : plan.settings.onToolError
  // a delegate that fails is always told to the model (O-12); a handler that asked for a reference too (B-22)
  if (tool.agent === null && !wantsErrorReference(error) && policy === 'throw')
    end.thrown = { error: thrownError(tool, reference, error) }
  return labelled(call, tool, result)
}

async function logError(call: CallScope, effect: Effect, tool: ToolDefinition, error: unknown): Promise<string> {
  const source = wantsErrorReference(error) ? (error.cause ?? error) : error
  const reference = nextErrorReference(call.clock.now())
  try {
    return await call.parts.store.toolErrors.insert({
      reference,
      executionId: effect.facts.executionId,
      rootExecutionId: effect.facts.rootExecutionId,
      effectId: effect.facts.effectId,
      agentCode: effect.facts.agentCode,
      toolCode: tool.code,
      ...describeThrown(source),
      tenant: call.tree.options.tenant,
      at: call.clock.now(),
    })
  } catch (storeError) {
    call.parts.logger.error(
      {
        reference,
        toolCode: tool.code,
        error: describeThrown(source).message,
        storeError: describeThrown(storeError).message,
      },
      'a tool error could not be written to the error log',
    )
    return reference
  }
}

/** Codes of our own errors are kept (G-43); anything else is wrapped, the original as cause. */
function thrownError(tool: ToolDefinition, reference: string, error: unknown): unknown {
  if (SluiceError.isInstance(error) && !HookFailedError.isInstance(error)) {
    // a new object: the handler may throw the same one in another run (CASE-27)
    const { reason, details } = error
    return new SluiceError(error.code, error.message, {
      cause: error,
      retryable: error.retryable,
      ...(details === undefined ? {} : { details }),
      ...(reason === undefined ? {} : { reason }),
    })
  }
  const { message } = describeThrown(error)
  const applicationCode: unknown =
    isPlainObject(error) || error instanceof Error ? (error as { code?: unknown }).code : undefined
  return new SluiceError('TOOL_FAILED', `Tool "${tool.code}" failed: ${message} (${reference})`, {
    cause: error,
    details: {
      toolCode: tool.code,
      errorReference: reference,
      ...(typeof applicationCode === 'string' || typeof applicationCode === 'number' ? { applicationCode } : {}),
    },
  })
}
