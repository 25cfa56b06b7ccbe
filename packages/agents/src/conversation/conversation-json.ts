import type { JsonMappingValue } from '../workflow/workflow-json.js'

/** Who speaks next: the next one of the list, or whom a moderator picks (C-1). */
export type ConversationMode = 'round_robin' | 'ai_driven'

/** Parameters of an agent, each with where its value comes from. */
export interface ConversationMapping {
  readonly [parameter: string]: JsonMappingValue
}

/** What ends a round robin before its last round (C-6). */
export interface TerminationCondition {
  readonly type: 'keyword_in_response'
  /** Ends the conversation as soon as a contribution contains it, as it is written. */
  readonly keyword: string
}

/** The moderator's answer, under the keys in which a model gives it (C-9). */
export interface ModeratorDecision {
  readonly next_speaker?: { readonly agent_code: string; readonly moderator_rationale: string } | null | undefined
  readonly discussion_complete: boolean
}
