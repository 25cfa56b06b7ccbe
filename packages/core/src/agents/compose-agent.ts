import { Faults, named } from '../errors/faults.js'
import type { StandardSchemaV1 } from '../hooks/standard-schema.js'
import { isPlainObject } from '../internal/json.js'
import type { JsonObject } from '../internal/json.js'
import type { SchemaOutput, SchemaSource } from '../tools/schema.js'
import type { AgentDefinition } from './agent-definition.js'
import { sealAgent } from './agent-definition.js'
import type { AgentType } from './agent-type.js'
import { checkAgentFields } from './check-agent.js'
import { compile } from './define-agent.js'

/** What agents of every type are made of, in code. */
export interface ComposedAgentOptions<Input extends SchemaSource | undefined, Output extends SchemaSource | undefined> {
  /** Letters, digits, `_`, `.` and `-`, 1 to 128 characters. */
  readonly code: string
  /** What the agent is for; other agents choose by it. */
  readonly description: string
  /** Schema of the input, enforced on every run. Default: anything. */
  readonly input?: Input
  /** Schema of the final answer, enforced on every run. Default: anything. */
  readonly output?: Output
  /** Keys of the run context without which a run is refused. Default none. */
  readonly requiredContext?: readonly string[]
  /** Default: the limit of the tree. */
  readonly timeoutSeconds?: number
  readonly maxIterations?: number
  readonly maxHistoryMessages?: number
  /** The own part of a workflow, under the keys in which it is stored. */
  readonly workflowDefinition?: JsonObject
  /** The own part of an orchestrator, handoff or conversation, under the keys in which it is stored. */
  readonly orchestrationConfig?: JsonObject
}

const KEYS: readonly string[] = [
  ...['code', 'description', 'input', 'output', 'requiredContext', 'timeoutSeconds', 'maxIterations'],
  ...['maxHistoryMessages', 'workflowDefinition', 'orchestrationConfig'],
]

/**
 * Defines an agent of any type in code: for packages that bring one. What every agent has is checked here, its own part by
 * the rules of its type.
 *
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all faults of the definition at once
 */
export function composeAgent<
  Input extends SchemaSource | undefined = undefined,
  Output extends SchemaSource | undefined = undefined,
>(
  type: Pick<AgentType, 'type' | 'validate'>,
  options: ComposedAgentOptions<Input, Output>,
): AgentDefinition<
  Input extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Input> : JsonObject,
  Output extends SchemaSource ? SchemaOutput<Output> : unknown
> {
  const faults = new Faults()
  const given: Readonly<Record<string, unknown>> = isPlainObject(options) ? options : {}
  if (given !== (options as unknown)) faults.add('options', 'must be one plain object')
  faults.addUnknown(given, KEYS)
  checkAgentFields(given, faults)
  const input = compile('input', given.input, faults)
  const output = compile('output', given.output, faults)
  const { requiredContext } = given
  const agent = sealAgent({
    ...(present(given) as { code: string; description: string }),
    agentType: type.type,
    requiredContext: Array.isArray(requiredContext) ? (requiredContext as string[]) : [],
    input,
    output,
  })
  for (const fault of type.validate(agent)) faults.addLine(fault)
  faults.throwIfAny(`${named('Agent', given.code)} is not acceptable`, { reason: 'agent.definition' })
  return agent as never
}

/** Without what was left open: an `undefined` is no value. */
function present(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
