import type {
  EffectOutcome,
  ExecutionRecord,
  GateReceipt,
  Receipt,
  Sent,
  ToolErrorRecord,
  ToolStatus,
  Usage,
} from '@sluice/core'
import type { Verification } from '@sluice/hooks-audit'
import type { LimitStatus } from '@sluice/hooks-budget'
import type { Scene } from '../scenes/scene.js'

/** What can be counted in the books. */
export interface Books {
  readonly approvals: number
  readonly lastNumber: number
}

/** Something that happened between the start of a run and its end. */
export type Note =
  | { readonly kind: 'paused'; readonly toolCode: string; readonly plugin: string; readonly code: string }
  | { readonly kind: 'decided'; readonly decision: string; readonly by: string; readonly note: string }

/** One attempt of a guarded effect: who was asked, and what became of it. */
export interface EffectAccount {
  readonly effect: Receipt['effect']
  readonly subject: string
  readonly attempt: number
  /** Of the last asking. */
  readonly gates: readonly GateReceipt[]
  readonly askings: number
  readonly outcome: EffectOutcome
  readonly sent: Sent
}

/** One tool call as the model asked for it. */
export interface ToolAccount {
  readonly toolCode: string
  readonly status: ToolStatus
  /** JSON text as the model sent it. */
  readonly args: string
  /** What stands in the conversation for it; `null` where nothing does. */
  readonly result: string | null
  /** Where the handler failed: the reference of the true error in the error log. */
  readonly errorReference: string | null
}

/** How the run ended. */
export interface Ending {
  /** `completed`, `paused`, or the code of the error. */
  readonly code: string
  /** Plugin and hook point of a veto. */
  readonly by: string | null
  readonly message: string | null
  readonly finishReason: string | null
}

/** Everything that is told about one scene. */
export interface Account {
  readonly scene: Scene
  readonly model: string
  /** Who stands in the record. */
  readonly createdBy: string
  readonly effects: readonly EffectAccount[]
  readonly notes: readonly Note[]
  readonly tools: readonly ToolAccount[]
  readonly text: string | null
  readonly usage: Usage
  readonly ending: Ending
  /** The row of the run as it was read back; `null` where there is none. */
  readonly row: ExecutionRecord | null
  readonly books: { readonly before: Books; readonly after: Books; readonly committed: boolean }
  /** How the desk's month in money stands; `undefined` where the limit is not there. */
  readonly month: LimitStatus | undefined
  /** What the verification of the audit log says. */
  readonly log: Verification
  /** The true error behind each reference that a tool left. */
  readonly errors: readonly ToolErrorRecord[]
}
