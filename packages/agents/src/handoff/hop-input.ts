import type { AgentDescription, JsonObject } from '@sluice/core'

/** What a hop knows besides the parameters of the caller (F-9). */
export interface HopFacts {
  /** The summary of whoever handed over. */
  readonly handoff_context: string
  /** Code of the agent that handed over. */
  readonly handoff_from: string
  /** What was answered before, in TOON. */
  readonly conversation_history: string
}

/** For the first hop: nobody handed over. A template that names these can be the first one as well. */
export const NO_HANDOFF: HopFacts = Object.freeze({
  handoff_context: '',
  handoff_from: '',
  conversation_history: '',
})

/**
 * The input of a hop that begins a run of a member: the parameters of the caller and what the handoff adds, which no parameter
 * takes the place of. A member whose input schema is closed gets what the schema names.
 */
export function hopInput(parameters: JsonObject, facts: HopFacts, member: AgentDescription): JsonObject {
  const input: JsonObject = { ...parameters, ...facts }
  const schema = member.input?.jsonSchema
  if (schema?.additionalProperties !== false) return input
  const properties = schema.properties as JsonObject | undefined
  return Object.fromEntries(
    Object.entries(input).filter(([name]) => properties !== undefined && Object.hasOwn(properties, name)),
  )
}
