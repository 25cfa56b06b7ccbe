import type {
  AgentDefinition,
  ComposedAgentOptions,
  JsonObject,
  JsonValue,
  SchemaOutput,
  SchemaSource,
  StandardSchemaV1,
} from '@sluice/core'
import { composeAgent } from '@sluice/core'
import { asJsonObject } from './workflow-json.js'
import type { CommonOptions, WorkflowOptions } from './workflow-options.js'
import { splitOptions } from './workflow-options.js'
import { workflowType } from './workflow-type.js'

/** The input that a workflow takes: as its schema says, else any. */
type InputOf<Input> = Input extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Input> : JsonObject
/** The `run.output` that a workflow gives: as its schema says, else JSON where the answer is no text. */
type OutputOf<Output> = Output extends SchemaSource ? SchemaOutput<Output> : JsonValue | undefined

/**
 * Defines a workflow in code. The result is frozen; give it to `createRuntime({ agents, agentTypes: [workflowType()] })`.
 *
 * @example
 * const answer = defineWorkflow({ code: 'answer', description: 'Sorts a ticket and answers it.', workflowType: 'sequential',
 *   steps: [
 *     { agent: 'sort', outputKey: 'kind', inputMapping: { ticket: '{$.input.ticket}' } },
 *     { agent: 'reply', outputKey: 'reply', inputMapping: { ticket: '{$.input.ticket}', kind: '{$.steps.kind}' } },
 *   ] })
 *
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all faults of the definition at once
 */
export function defineWorkflow<
  Input extends SchemaSource | undefined = undefined,
  Output extends SchemaSource | undefined = undefined,
>(options: WorkflowOptions<Input, Output>): AgentDefinition<InputOf<Input>, OutputOf<Output>> {
  const { workflow, rest } = splitOptions(options as unknown as CommonOptions)
  return composeAgent(workflowType(), {
    ...(rest as unknown as ComposedAgentOptions<Input, Output>),
    workflowDefinition: asJsonObject(workflow),
  }) as never
}
