import type { RunContext } from '../context/run-context.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { FilePart, Message } from '../messages/message.js'
import type { AcceptedArguments } from '../sessions/session-access.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentDefinition } from './agent-definition.js'
import type { AgentWork } from './agent-work.js'

/** An agent as a run gets it: one version, with its tools looked up. */
export interface ResolvedAgent {
  readonly id: string
  readonly code: string
  readonly version: number
  readonly definition: AgentDefinition
  /** Tools of a profile agent in the order of its definition, then those of extensions, which other types may have too. */
  readonly tools: readonly ToolDefinition[]
  /** What extensions put behind the system prompt of a first turn. Default none. */
  readonly systemBlocks?: readonly string[]
}

/** What a definition refers to by code. */
export interface AgentReferences {
  readonly agents: readonly string[]
  /** Those of `agents` that have to be profile agents (F-3). Default none. */
  readonly profileAgents?: readonly string[]
  readonly profiles: readonly { readonly code: string; readonly version: number | null }[]
}

/** One run of an agent, as its type gets it: arguments checked, run context bound, gates passed, record written. */
export interface AgentInvocation {
  readonly agent: ResolvedAgent
  /** Validated against the agent's input schema. Empty in a follow-up turn. */
  readonly input: JsonObject
  readonly followUp: string | null
  /** The earlier conversation of a follow-up turn, valid and whole; empty in a first turn. */
  readonly history: readonly Message[]
  /** Who made each message of `history`: the code of an agent, `null` for what the caller gave (S-43). */
  readonly historyBy: readonly (string | null)[]
  /** What the turn before this one told beyond its answer (`AgentResult.details`); `null` in a first turn. */
  readonly earlier: JsonObject | null
  readonly files: readonly FilePart[]
  /** The answer schema in force: that of the call, else the agent's own. */
  readonly output: CompiledSchema | null
  readonly runContext: RunContext
  readonly signal: AbortSignal
  /** For what its owner should know of a run and no caller has to. A replay tells it again. */
  readonly logger: Logger
  /** Starts what the agent is made of. */
  readonly work: AgentWork
}

/** What a run of an agent came to. */
export interface AgentResult {
  /** Text of the final answer; `null` where it holds none. */
  readonly text: string | null
  /** The validated structured answer; `undefined` where no schema was in force. */
  readonly output: JsonValue | undefined
  /**
   * Messages of this turn that were not said through `work.say`; they are added to the conversation behind those. After
   * `work.turn` there are none: the turn has said what it has.
   */
  readonly messages?: readonly Message[]
  readonly finishReason: FinishReason
  /** Loop iterations, conversation turns or handoff hops; 0 for profile agents (S-4). */
  readonly iterationCount: number
  /** What the pattern tells beyond the answer, under the original's keys: it stands in the output of the row and in `Run.details`. */
  readonly details?: JsonObject
}

/** A type of agent: `profile` is core's own, other packages bring theirs through the same contract. */
export interface AgentType {
  /** The value of `agent_type`. */
  readonly type: string
  /** Which optional parts of a call it takes. */
  readonly accepts: AcceptedArguments
  /** All faults of a definition, each as `place: what is wrong`; empty for an acceptable one. Reads nothing, changes nothing. */
  validate(definition: AgentDefinition): readonly string[]
  /** Agents and prompt profiles that the definition names. */
  references(definition: AgentDefinition): AgentReferences
  /** Runs the agent. Throws what ends the run; a stop is never caught. */
  run(invocation: AgentInvocation): Promise<AgentResult>
}

/** The type agents need to know of before they run: everything of {@link AgentType} but `run`. */
export type AgentTypeRules = Omit<AgentType, 'run'>
