import type { JsonValue, MaybePromise } from '../internal/json.js'
import { runOnce } from '../tools/once.js'
import type { OnceKeys, ToolContext, ToolDefinition, ToolResources } from '../tools/tool-definition.js'
import type { CallScope } from './call-scope.js'
import type { Effect } from './effect.js'
import { LazySignal } from '../internal/lazy-signal.js'
import type { RoundCall } from './round-call.js'

/** What a handler is given beside its arguments. */
class HandlerContext implements ToolContext {
  readonly runContext: ToolContext['runContext']
  readonly idempotencyKey: string
  readonly resources: ToolResources
  readonly toolCode: string
  readonly callId: string
  readonly effectId: string
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly sessionId: string | null
  readonly labels: ToolContext['labels']
  readonly logger: ToolContext['logger']
  readonly #open: { readonly signal: AbortSignal }

  constructor(call: CallScope, entry: RoundCall, effect: Effect, open: { readonly signal: AbortSignal }) {
    const { facts } = effect
    this.runContext = call.run.facts.runContext
    this.idempotencyKey = facts.effectId
    this.resources = (call.run.options.resources ?? EMPTY) as ToolResources
    this.toolCode = (entry.tool as ToolDefinition).code
    this.callId = entry.part.toolCallId
    this.effectId = facts.effectId
    this.executionId = facts.executionId
    this.rootExecutionId = facts.rootExecutionId
    this.agentCode = facts.agentCode
    this.sessionId = facts.sessionId
    this.labels = facts.labels
    this.logger = call.parts.logger
    this.#open = open
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#open.signal
  }

  once<Result extends JsonValue>(keys: OnceKeys, fn: () => MaybePromise<Result>): Promise<Result> {
    return runOnce(keys, this.idempotencyKey, fn)
  }

  static {
    // what a handler is handed leads to the prototype, which all tools share
    Object.freeze(this.prototype)
  }
}

const EMPTY: ToolResources = Object.freeze({})

/** The context that `authorize` and the handler share. */
export function handlerContext(
  call: CallScope,
  entry: RoundCall,
  effect: Effect,
  open: { readonly signal: AbortSignal } = new LazySignal(),
): ToolContext {
  return new HandlerContext(call, entry, effect, open)
}
