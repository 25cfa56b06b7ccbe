import type { JsonObject, JsonValue } from '@sluice/core'

/** In which way the steps of a workflow run. */
export type WorkflowKind = 'sequential' | 'conditional' | 'parallel' | 'loop'

/** What becomes of the workflow when a step fails (W-45). */
export type OnStepError = 'stop' | 'continue' | 'retry'

/** How the steps of a parallel workflow run: one after another, or all at once (W-26). */
export type ExecutionMode = 'sequential' | 'wait_all'

/** What the outputs of a parallel workflow become (W-27). */
export type AggregationStrategy = 'merge' | 'array' | 'first'

/** `{$.steps.draft}`, a text with references, a constant, or a path with what holds where it leads nowhere (W-12, W-13). */
export type JsonMappingValue =
  | string
  | number
  | boolean
  | { readonly path: string; readonly optional?: boolean; readonly default?: JsonValue }
  | { readonly expression: string; readonly is_plsql_expression?: boolean }

/** One step as it is stored (W-3). */
export interface WorkflowStepJson {
  readonly agent_code: string
  /** Under which key of `steps` the state has its output. */
  readonly output_key: string
  /** Parameters of the agent; without it the step gets the input of the workflow (W-20). */
  readonly input_mapping?: { readonly [parameter: string]: JsonMappingValue }
  /** CEL; the step is skipped where it is false (W-22). */
  readonly condition?: string
  readonly step_id?: string
  /** @default 'stop' */
  readonly on_error?: OnStepError
  /** With `on_error: 'retry'`, 1 to 10. @default 1 */
  readonly max_retries?: number
  /** The owner vouches for the output: the labels of what the step has read are dropped. @default false */
  readonly drops_labels?: boolean
}

/** A workflow as it is stored, under the original's keys (W-1). */
export interface WorkflowJson {
  readonly workflow_type: WorkflowKind
  readonly steps: readonly WorkflowStepJson[]
  /** Loops: run once, before the first iteration. */
  readonly pre_steps?: readonly WorkflowStepJson[]
  /** Loops: run once, behind the last iteration. */
  readonly post_steps?: readonly WorkflowStepJson[]
  readonly loop_config?: {
    /** 1 to 10 000. @default `max_iterations` of the agent, else 10 */
    readonly max_iterations?: number
    /** CEL, asked behind every step of an iteration (W-31). Without it the loop runs to its limit. */
    readonly exit_condition?: string
  }
  readonly parallel_config?: {
    /** @default 'sequential' */
    readonly execution_mode?: ExecutionMode
    readonly aggregation_strategy?: AggregationStrategy
  }
  /** @default 'merge' */
  readonly aggregation_strategy?: AggregationStrategy
  /** In place of the output of the last step (W-24). */
  readonly final_message?: JsonMappingValue
}

/** The definition as core stores it. */
export function asJsonObject(workflow: WorkflowJson): JsonObject {
  return workflow as unknown as JsonObject
}
