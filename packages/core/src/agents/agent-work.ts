import type { OfferedRunContext } from '../context/run-context.js'
import type { LoopSettings } from '../generate/settings.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { Label } from '../messages/label.js'
import type { FilePart, Message } from '../messages/message.js'
import type { Usage } from '../messages/usage.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { ToolDefinition } from '../tools/tool-definition.js'

/** A run of another agent that an agent starts below its own. */
export interface ChildRun {
  /** Code of the agent; its active version runs unless `version` names another. */
  readonly agent: string
  readonly version?: number
  readonly input?: JsonObject
  /** The text of a further turn, with the conversation that it carries on. */
  readonly followUp?: { readonly text: string; readonly history: readonly Message[] }
  /** Answer schema of this run alone; the agent's own where absent. */
  readonly output?: CompiledSchema
  readonly files?: readonly FilePart[]
  /** Keys that this run and those below it have besides the inherited ones. */
  readonly runContext?: OfferedRunContext
  /** Tools of a profile agent besides its own. */
  readonly tools?: readonly ToolDefinition[]
  /** Sources of untrusted text in what the run is given. @default all that this agent has met so far */
  readonly labels?: readonly Label[]
  /**
   * The owner vouches for the result: it comes back without labels. Its schema must hold numbers, booleans and enumerations
   * only. @default false
   */
  readonly dropsLabels?: boolean
}

/** What a run below came to. Plain JSON, since it is a step of the run that started it. */
export interface ChildResult {
  readonly executionId: string
  readonly agentCode: string
  readonly agentVersion: number
  /** Text of the final answer; `null` where it holds none. */
  readonly text: string | null
  /** The validated structured answer; absent where no schema was in force. */
  readonly output?: JsonValue
  /** What the run added to its conversation: of a first turn with its system prompt. */
  readonly messages: readonly Message[]
  readonly finishReason: FinishReason
  readonly usage: Usage
  /** Sources of untrusted text in the answer. */
  readonly labels: readonly Label[]
  /** What the type of that agent tells beyond this (`AgentResult.details`). */
  readonly details?: JsonObject
}

/** What came of a run that the agent can do without: its result, or why there is none. */
export type ChildOutcome =
  | { readonly ok: true; readonly result: ChildResult }
  | {
      readonly ok: false
      readonly error: unknown
      /** Under which the error log has the error, so that nothing of it has to be told to a model (B-21). */
      readonly errorReference: string
    }

/** A turn that an agent takes itself: prompts of a stored profile, tools, the model. */
export interface OwnTurn {
  readonly profile: { readonly code: string; readonly version?: number }
  readonly input: JsonObject
  readonly followUp: string | null
  /** The earlier conversation of a follow-up turn. */
  readonly history: readonly Message[]
  readonly files: readonly FilePart[]
  readonly output: CompiledSchema | null
  /** All tools of the turn but those of `toolTags`: what the profile selects does not count (O-6). */
  readonly tools: readonly ToolDefinition[]
  /** Tools of the runtime that carry one of these tags are offered as well. Default none. */
  readonly toolTags?: readonly string[]
  /** Over those of the profile. */
  readonly settings?: Partial<LoopSettings>
}

/** What a turn of its own came to. */
export interface OwnTurnResult {
  readonly text: string | null
  readonly output: JsonValue | undefined
  readonly messages: readonly Message[]
  readonly finishReason: FinishReason
  readonly usage: Usage
}

/** What there is to know of an agent before it runs: its active version. */
export interface AgentDescription {
  readonly code: string
  readonly version: number
  readonly agentType: string
  readonly description: string
  /** Enforced on its input; `null`: anything goes. */
  readonly input: CompiledSchema | null
  /** Enforced on its answer; `null`: anything goes. */
  readonly output: CompiledSchema | null
}

/** The part of the work that may go on beside other parts; inside one, runs go one after another. */
export interface BranchWork {
  /**
   * Runs an agent as a child of this run: a row of its own, in the session, with the run context and the gates of the tree.
   * @throws what ends that run; a stop of the tree is thrown again by every later call, so that nothing can swallow it
   */
  run(name: string, child: ChildRun): Promise<ChildResult>
  /**
   * As `run`, where the agent goes on without a result: what failed there and is no stop of the tree comes back, and stands in
   * the error log. Stops and pauses are thrown as ever: whoever catches them meets them again at the next call.
   */
  attempt(name: string, child: ChildRun): Promise<ChildOutcome>
  /** Work of its own place in the tree, which may go on beside others. */
  branch<Value>(name: string, work: (branch: BranchWork) => Promise<Value>): Promise<Value>
  /** Labels of everything that this agent has met so far. */
  readonly labels: readonly Label[]
}

/**
 * What an agent that is made of others works with. Everything that it starts goes through here, so that the framework knows
 * it: gates and limits of the tree hold, it can be paused through, and a replay finds what was done. A name is used once in
 * one `AgentWork` and stands in effect ids: letters, digits, `_`, `-` and `.`; the same names must come in the same order in
 * every replay, so choose by recorded results alone, never by the clock or chance.
 */
export interface AgentWork extends BranchWork {
  /** Looks up an agent. Runs nothing, and a replay looks again. @throws NOT_FOUND where no version is active */
  describe(code: string): Promise<AgentDescription>
  /** One turn with the model as this run itself, once: its tokens are the run's own (O-9). */
  turn(turn: OwnTurn): Promise<OwnTurnResult>
  /**
   * Adds messages to the conversation of this run: of a top-level run they go into the message log, at once. `by` is the
   * agent that made them, `null` for what the caller gave (S-43).
   */
  say(messages: readonly Message[], by: string | null): Promise<void>
  /** Keeps where the work stands in `currentState` of the row, as well as it can (W-48); it is cleared when the run completes. */
  checkpoint(state: JsonValue): Promise<void>
}
