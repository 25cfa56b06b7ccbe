import type { Condition } from './condition.js'
import type { InputMapping, ValueSource } from './input-mapping.js'
import type { AggregationStrategy, ExecutionMode, OnStepError, WorkflowKind } from './workflow-json.js'

/** A step, read and checked. */
export interface PlannedStep {
  readonly agentCode: string
  readonly outputKey: string
  /** What errors call it: its `step_id`, else its output key. */
  readonly id: string
  /** `undefined`: the input of the workflow as it is. */
  readonly mapping: InputMapping | undefined
  readonly condition: Condition | undefined
  readonly onError: OnStepError
  readonly maxRetries: number
  readonly dropsLabels: boolean
}

/** A workflow, read and checked: what a run goes by. */
export interface WorkflowPlan {
  readonly kind: WorkflowKind
  readonly preSteps: readonly PlannedStep[]
  readonly steps: readonly PlannedStep[]
  readonly postSteps: readonly PlannedStep[]
  readonly loop: { readonly maxIterations: number | undefined; readonly exit: Condition | undefined }
  readonly parallel: { readonly mode: ExecutionMode; readonly aggregation: AggregationStrategy }
  readonly finalMessage: ValueSource | undefined
}

/** All steps of a workflow, in the order in which they run first. */
export function allSteps(plan: WorkflowPlan): readonly PlannedStep[] {
  return [...plan.preSteps, ...plan.steps, ...plan.postSteps]
}
