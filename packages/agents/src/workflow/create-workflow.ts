import type { AgentRegistry, DefinitionStatus } from '@sluice/core'
import type {
  AggregationStrategy,
  ExecutionMode,
  JsonMappingValue,
  WorkflowJson,
  WorkflowStepJson,
} from './workflow-json.js'
import { asJsonObject } from './workflow-json.js'
import { WORKFLOW } from './workflow-type.js'

/** A step of a workflow that a helper builds: the code of an agent, with its parameters where it has others than the workflow. */
export type HelperStep =
  | string
  | { readonly agentCode: string; readonly inputMapping?: { readonly [parameter: string]: JsonMappingValue } }

/** What the helpers take. */
export interface SequentialWorkflowOptions {
  readonly code: string
  readonly description: string
  /** The agents, in the order in which they run. Step n has the output key `step_n`. */
  readonly agentCodes: readonly HelperStep[]
  /** @default 'draft' */
  readonly status?: DefinitionStatus
}

export interface ParallelWorkflowOptions extends SequentialWorkflowOptions {
  /** @default 'merge' */
  readonly aggregationStrategy?: AggregationStrategy
  /** @default 'sequential' */
  readonly executionMode?: ExecutionMode
}

type Registry = Pick<AgentRegistry, 'create'>

/**
 * Stores a workflow that runs agents one after another, and gives the id of the version. An agent without parameters of
 * its own gets the input of the workflow.
 *
 * @throws INVALID_CONFIG, INVALID_STATUS, DUPLICATE_NAME, UNKNOWN_AGENT_TYPE
 */
export function createSequentialWorkflow(agents: Registry, options: SequentialWorkflowOptions): Promise<string> {
  return create(agents, options, { workflow_type: 'sequential', steps: stepsOf(options) })
}

/**
 * Stores a workflow whose agents do not build on each other, and gives the id of the version.
 *
 * @throws INVALID_CONFIG, INVALID_STATUS, DUPLICATE_NAME, UNKNOWN_AGENT_TYPE
 */
export function createParallelWorkflow(agents: Registry, options: ParallelWorkflowOptions): Promise<string> {
  const { executionMode = 'sequential', aggregationStrategy = 'merge' } = options
  return create(agents, options, {
    workflow_type: 'parallel',
    steps: stepsOf(options),
    aggregation_strategy: aggregationStrategy,
    parallel_config: { execution_mode: executionMode },
  })
}

function create(agents: Registry, options: SequentialWorkflowOptions, workflow: WorkflowJson): Promise<string> {
  const { code, description, status } = options
  return agents.create({
    code,
    description,
    agentType: WORKFLOW,
    workflowDefinition: asJsonObject(workflow),
    ...(status === undefined ? {} : { status }),
  })
}

function stepsOf({ agentCodes }: SequentialWorkflowOptions): readonly WorkflowStepJson[] {
  return agentCodes.map((step, index) => {
    const key = `step_${index + 1}`
    const { agentCode, inputMapping } = typeof step === 'string' ? { agentCode: step, inputMapping: undefined } : step
    return {
      step_id: key,
      agent_code: agentCode,
      output_key: key,
      ...(inputMapping === undefined ? {} : { input_mapping: inputMapping }),
    }
  })
}
