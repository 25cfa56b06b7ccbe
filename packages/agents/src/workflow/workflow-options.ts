import type { AgentDefinition, JsonObject, SchemaSource } from '@sluice/core'
import type {
  AggregationStrategy,
  ExecutionMode,
  JsonMappingValue,
  OnStepError,
  WorkflowJson,
  WorkflowStepJson,
} from './workflow-json.js'

/** One step of a workflow, in code. */
export interface WorkflowStep {
  /** The agent, or its code: of any type. Its active version runs. */
  readonly agent: string | AgentDefinition
  /** The key of its output: later steps read `{$.steps.<outputKey>}`. */
  readonly outputKey: string
  /** Its parameters. Default: the input of the workflow as it is. */
  readonly inputMapping?: { readonly [parameter: string]: JsonMappingValue }
  /** CEL, over `{$.input.*}` and `{$.steps.*}`; false skips the step. Default true. */
  readonly condition?: string
  /** What errors call the step. Default its `outputKey`. */
  readonly stepId?: string
  /** What a failure of the agent leads to; a veto always ends the run. @default 'stop' */
  readonly onError?: OnStepError
  /** With `onError: 'retry'`: 1 to 10. @default 1 */
  readonly maxRetries?: number
  /** You vouch for the output, which a closed schema without free text checks: it carries no labels. @default false */
  readonly dropsLabels?: boolean
}

interface WorkflowBase<Input extends SchemaSource | undefined, Output extends SchemaSource | undefined> {
  /** Letters, digits, `_`, `.` and `-`, 1 to 128 characters. */
  readonly code: string
  /** What the workflow is for; other agents choose by it. */
  readonly description: string
  readonly steps: readonly WorkflowStep[]
  /** What the workflow answers: a reference keeps the type of its value. Default: the output of the last step that ran. */
  readonly finalMessage?: JsonMappingValue
  /** Schema of the input, enforced. Default: anything. */
  readonly input?: Input
  /** Schema of the answer, enforced. Default: anything. */
  readonly output?: Output
  /** Keys of the run context without which a run is refused. Default none. */
  readonly requiredContext?: readonly string[]
  /** Default: the limit of the tree. */
  readonly timeoutSeconds?: number
}

/** What `defineWorkflow` takes. Stored JSON has the same names in snake case. */
export type WorkflowOptions<
  Input extends SchemaSource | undefined = SchemaSource | undefined,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> = WorkflowBase<Input, Output> &
  (
    | { readonly workflowType: 'sequential' | 'conditional' }
    | {
        readonly workflowType: 'parallel'
        readonly parallelConfig?: {
          /** `wait_all`: all steps at once, over the state as it was before. @default 'sequential' */
          readonly executionMode?: ExecutionMode
          /** @default 'merge' */
          readonly aggregationStrategy?: AggregationStrategy
        }
      }
    | {
        readonly workflowType: 'loop'
        /** Run once, before the first iteration. */
        readonly preSteps?: readonly WorkflowStep[]
        /** Run once, behind the last iteration. */
        readonly postSteps?: readonly WorkflowStep[]
        readonly loopConfig: {
          /** 1 to 10 000. @default 10 */
          readonly maxIterations?: number
          /** CEL, asked behind every step of an iteration. Default: never. */
          readonly exitCondition?: string
        }
      }
  )

/** The names of options and the keys under which they are stored; each `undefined` is left out. */
const WORKFLOW_KEYS: Readonly<Record<string, string>> = {
  workflowType: 'workflow_type',
  steps: 'steps',
  preSteps: 'pre_steps',
  postSteps: 'post_steps',
  loopConfig: 'loop_config',
  parallelConfig: 'parallel_config',
  finalMessage: 'final_message',
}
const STEP_KEYS: Readonly<Record<string, string>> = {
  agent: 'agent_code',
  outputKey: 'output_key',
  inputMapping: 'input_mapping',
  condition: 'condition',
  stepId: 'step_id',
  onError: 'on_error',
  maxRetries: 'max_retries',
  dropsLabels: 'drops_labels',
}
const CONFIG_KEYS: Readonly<Record<string, string>> = {
  maxIterations: 'max_iterations',
  exitCondition: 'exit_condition',
  executionMode: 'execution_mode',
  aggregationStrategy: 'aggregation_strategy',
}

/** What is left of the options when those of the workflow itself are taken out. */
export type CommonOptions = Readonly<Record<string, unknown>>

/** Parts options into the workflow as it is stored, and what every agent has. Unknown names stay, so that they are told. */
export function splitOptions(options: CommonOptions): {
  readonly workflow: WorkflowJson
  readonly rest: CommonOptions
} {
  const workflow: Record<string, unknown> = {}
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const key = Object.hasOwn(WORKFLOW_KEYS, name) ? (WORKFLOW_KEYS[name] as string) : undefined
    if (key === undefined) rest[name] = value
    else
      workflow[key] = name.endsWith('teps')
        ? listOf(value)
        : name.endsWith('Config')
          ? renamed(value, CONFIG_KEYS)
          : value
  }
  return { workflow: workflow as unknown as WorkflowJson, rest }
}

/** Steps as they are stored. */
export function storedStep(step: WorkflowStep): WorkflowStepJson {
  const stored = renamed(step, STEP_KEYS) as JsonObject
  const { agent } = step
  return (typeof agent === 'object' ? { ...stored, agent_code: agent.code } : stored) as unknown as WorkflowStepJson
}

function listOf(steps: unknown): unknown {
  return Array.isArray(steps) ? steps.map((step) => (isObject(step) ? storedStep(step as never) : step)) : steps
}

function renamed(given: unknown, keys: Readonly<Record<string, string>>): unknown {
  if (!isObject(given)) return given
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [Object.hasOwn(keys, name) ? keys[name] : name, value]),
  )
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
