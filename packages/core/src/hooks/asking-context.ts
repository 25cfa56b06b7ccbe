import type { Label } from '../messages/label.js'
import { LazySignal } from '../internal/lazy-signal.js'
import type { GateReceipt } from './receipt.js'

/** What an asking keeps behind its context: the signal is made when first read, the answers are shown to stage `record` only. */
export class AskingState extends LazySignal {
  #rows: readonly GateReceipt[] | undefined
  #count = 0
  #shown: readonly GateReceipt[] | undefined

  /** From here on the answers are shown: the rows so far. They are copied when somebody looks. */
  show(rows: readonly GateReceipt[]): void {
    this.#rows = rows
    this.#count = rows.length
    this.#shown = undefined
  }

  get answers(): readonly GateReceipt[] | undefined {
    if (this.#rows === undefined) return undefined
    this.#shown ??= frozenRows(this.#rows.slice(0, this.#count))
    return this.#shown
  }
}

/** The rows as they stand in the receipt. */
function frozenRows(rows: readonly GateReceipt[]): readonly GateReceipt[] {
  for (const row of rows) Object.freeze(row)
  return Object.freeze(rows)
}

/** Facts about an effect that every context repeats. */
export interface EffectFacts {
  readonly effectId: string
  readonly attempt: number
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly parentExecutionId: string | null
  readonly requestId: string | null
  readonly depth: number
  readonly tenant: string | null
  readonly labels: readonly Label[]
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
}

/**
 * The common part of what a gate or a closing observer is told. Subclasses add their fields and freeze the object; the
 * accessors stay alive on a frozen object because what they read is private.
 */
export class AskingContext {
  readonly effectId: string
  readonly attempt: number
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly parentExecutionId: string | null
  readonly requestId: string | null
  readonly depth: number
  readonly tenant: string | null
  readonly labels: readonly Label[]
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly #state: AskingState

  constructor(facts: EffectFacts, state: AskingState) {
    this.effectId = facts.effectId
    this.attempt = facts.attempt
    this.executionId = facts.executionId
    this.rootExecutionId = facts.rootExecutionId
    this.parentExecutionId = facts.parentExecutionId
    this.requestId = facts.requestId
    this.depth = facts.depth
    this.tenant = facts.tenant
    this.labels = facts.labels
    this.agentId = facts.agentId
    this.agentCode = facts.agentCode
    this.createdBy = facts.createdBy
    this.sessionId = facts.sessionId
    this.appId = facts.appId
    this.#state = state
  }

  get signal(): AbortSignal {
    return this.#state.signal
  }

  get answers(): readonly GateReceipt[] | undefined {
    return this.#state.answers
  }

  static {
    // what a plugin is handed leads to the prototype, which all plugins share
    Object.freeze(this.prototype)
  }
}
