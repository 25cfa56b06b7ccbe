/** What a gate answered in one asking. `not_asked`: an earlier gate had stopped it; `hosted`: a tool that runs at the provider. */
export type GateAnswer =
  | 'passed'
  | 'vetoed'
  | 'refused'
  | 'paused'
  | 'waited'
  | 'landed'
  | 'failed'
  | 'timed_out'
  | 'aborted'
  | 'would_veto'
  | 'not_asked'
  | 'hosted'

/** How an attempt of an effect ended. */
export type EffectOutcome = 'ok' | 'error' | 'refused' | 'stopped' | 'not_run' | 'aborted' | 'unknown'

/** Whether the request or the handler can have started. */
export type Sent = 'no' | 'yes' | 'unknown'

/** One gate of an asking. `ms` is how long it took, in milliseconds; 0 for anything below a twentieth of one. */
export interface GateReceipt {
  readonly plugin: string
  readonly point: string
  readonly stage: number
  readonly answer: GateAnswer
  readonly code?: string
  readonly ms: number
}

/** One asking of all gates that stood before an effect, in the order in which they stood. */
export interface Asking {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly gates: readonly GateReceipt[]
}

/** The account of one guarded effect: every gate that stood there and what it answered, in every asking of one attempt. */
export interface Receipt {
  readonly effect: 'execution' | 'model_call' | 'tool_call'
  readonly effectId: string
  readonly attempt: number
  readonly rootExecutionId: string
  readonly executionId: string | null
  readonly agentCode: string | null
  /** Provider/model, or the tool code. */
  readonly subject: string | null
  readonly at: number
  readonly askings: readonly Asking[]
  readonly outcome: EffectOutcome
  readonly sent: Sent
  /** Askings of `whileInFlight`: how many, besides the first and the last, are not listed. */
  readonly inFlightAskings?: number
  readonly tenant: string | null
}
