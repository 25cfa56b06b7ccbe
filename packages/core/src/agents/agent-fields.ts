import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { isPlainObject } from '../internal/json.js'
import type { DefinitionRecord, DefinitionStatus } from '../store/records.js'
import type { SchemaSource } from '../tools/schema.js'
import { convertSchema } from '../tools/schema.js'
import { STORED_KEYS } from './stored-agent.js'

/** What an agent in the store is made of. `null` and left out are the same. */
export interface AgentFields {
  readonly code: string
  readonly description: string
  /** `profile`, or a type that another package brings. */
  readonly agentType: string
  readonly promptProfileCode?: string | null
  /** Pins a version of the prompt profile; default its latest active one. */
  readonly promptProfileVersion?: number | null
  readonly workflowDefinition?: JsonObject | null
  readonly orchestrationConfig?: JsonObject | null
  /** JSON Schema or a zod schema; stored as JSON Schema. */
  readonly inputSchema?: SchemaSource | null
  readonly outputSchema?: SchemaSource | null
  readonly timeoutSeconds?: number | null
  readonly maxIterations?: number | null
  readonly maxHistoryMessages?: number | null
  readonly requiredContext?: readonly string[] | null
}

/** A new agent. `version` defaults to 1, `status` to `draft`. */
export interface NewAgent extends AgentFields {
  readonly version?: number
  readonly status?: DefinitionStatus
}

/** A change: fields left out keep their value, `null` clears an optional one. Code and type never change. */
export type AgentChange = Partial<Omit<AgentFields, 'code' | 'agentType'>>

/** One stored version, as `get` and `list` show it. */
export interface AgentVersion {
  readonly id: string
  readonly code: string
  readonly version: number
  readonly status: DefinitionStatus
  readonly origin: 'code' | 'store'
  readonly digest: string
  readonly description: string
  readonly agentType: string
  readonly promptProfileCode: string | null
  readonly promptProfileVersion: number | null
  readonly workflowDefinition: JsonObject | null
  readonly orchestrationConfig: JsonObject | null
  readonly inputSchema: JsonObject | null
  readonly outputSchema: JsonObject | null
  readonly timeoutSeconds: number | null
  readonly maxIterations: number | null
  readonly maxHistoryMessages: number | null
  /** Keys of the run context that a run needs (A-W9). */
  readonly requiredContext: readonly string[]
  readonly createdBy: string | null
  readonly createdAt: number
  readonly updatedBy: string | null
  readonly updatedAt: number
}

const FIELD_KEYS = Object.fromEntries(Object.entries(STORED_KEYS).map(([key, field]) => [field, key])) as Readonly<
  Record<keyof AgentFields, string>
>

/**
 * A stored form with `fields` written over `base`: a value replaces, `null` removes, what is left out stays.
 *
 * @throws INVALID_CONFIG for fields that do not exist, and for `fixed` ones
 */
export function writeFields(base: JsonObject, given: unknown, fixed: readonly string[] = []): JsonObject {
  const faults = new Faults()
  const stored: Record<string, JsonValue> = { ...base }
  if (!isPlainObject(given)) faults.add('agent', 'must be a plain object')
  for (const [field, value] of Object.entries(isPlainObject(given) ? given : {})) {
    if (fixed.includes(field)) faults.add(field, 'cannot be changed; make a new version, or use changeStatus')
    else if (!Object.hasOwn(FIELD_KEYS, field))
      faults.add(field, `is not known; known are ${Object.keys(FIELD_KEYS).join(', ')}`)
    else if (value === null) delete stored[FIELD_KEYS[field as keyof AgentFields]]
    else if (value !== undefined) stored[FIELD_KEYS[field as keyof AgentFields]] = toJson(field, value, faults)
  }
  faults.throwIfAny('The agent is not acceptable', { reason: 'agent.fields' })
  return stored
}

function toJson(field: string, value: unknown, faults: Faults): JsonValue {
  if (field !== 'inputSchema' && field !== 'outputSchema') return value as JsonValue
  const { jsonSchema, faults: found } = convertSchema(value)
  for (const fault of found) faults.add(`${field}${fault.path}`, fault.message)
  return jsonSchema
}

/**
 * The fields of a definition in the original's JSON form (`prompt_profile_code`, ...), for `create`: definitions carry over.
 *
 * @throws INVALID_CONFIG for keys that are not known
 */
export function toAgentFields(json: JsonObject): AgentFields {
  const fields: Record<string, unknown> = {}
  const faults = new Faults()
  for (const [key, value] of Object.entries(json)) {
    if (Object.hasOwn(STORED_KEYS, key)) fields[STORED_KEYS[key as keyof typeof STORED_KEYS]] = value
    else faults.add(key, `is not known; known are ${Object.keys(STORED_KEYS).join(', ')}`)
  }
  faults.throwIfAny('The definition of the agent is not acceptable', { reason: 'agent.fields' })
  return fields as unknown as AgentFields
}

/** A record as it is shown. */
export function toAgentVersion(record: DefinitionRecord): AgentVersion {
  const shown: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(STORED_KEYS)) {
    shown[field] = Object.hasOwn(record.definition, key)
      ? record.definition[key]
      : field === 'requiredContext'
        ? []
        : null
  }
  const { definition: _, ...rest } = record
  return Object.freeze({ ...shown, ...rest }) as unknown as AgentVersion
}

const STATUSES: readonly string[] = ['draft', 'active', 'archived'] satisfies DefinitionStatus[]

/** Checks a status. @throws INVALID_STATUS */
export function parseStatus(status: unknown): DefinitionStatus {
  if (STATUSES.includes(status as string)) return status as DefinitionStatus
  throw new SluiceError('INVALID_STATUS', `'${String(status).slice(0, 50)}' is no status of an agent.`, {
    hint: `Use one of ${STATUSES.join(', ')}.`,
  })
}
