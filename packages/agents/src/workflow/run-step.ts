import type { BranchWork, ChildResult, ChildRun, JsonObject, JsonValue, Label, Logger } from '@sluice/core'
import { agentsError } from '../agents-error.js'
import { shown } from './fault-list.js'
import { mapInput, pathsOf } from './input-mapping.js'
import type { Path } from './path.js'
import type { PlannedStep } from './workflow-plan.js'
import type { WorkflowState } from './workflow-state.js'

/** What a step came to; `undefined` where its condition was false. */
export type StepOutcome =
  | { readonly value: JsonValue; readonly labels: readonly Label[]; readonly error?: string }
  | undefined

/** What a step is run with. */
export interface StepRun {
  readonly step: PlannedStep
  /** Its name in the tree of runs, the same in every replay. */
  readonly name: string
  /** What its condition and its mapping see. */
  readonly state: WorkflowState
  readonly work: BranchWork
  readonly workflow: string
  readonly logger: Logger
}

/**
 * Runs one step (W-22, W-44 to W-46). Faults of its condition and its mapping are those of the definition: `on_error` is for
 * what its agent meets.
 */
export async function runStep(running: StepRun): Promise<StepOutcome> {
  const { step, name, state, work } = running
  if (step.condition?.holds((path) => state.resolve(path)) === false) return undefined
  const child: ChildRun = {
    agent: step.agentCode,
    input: inputOf(running),
    labels: labelsOf(step, state),
    ...(step.dropsLabels ? { dropsLabels: true } : {}),
  }
  if (step.onError === 'stop') return outputOf(await work.run(name, child))
  const attempts = step.onError === 'retry' ? step.maxRetries + 1 : 1
  for (let attempt = 1; ; attempt++) {
    const outcome = await work.attempt(attempt === 1 ? name : `${name}.a${attempt}`, child)
    if (outcome.ok) return outputOf(outcome.result)
    if (step.onError === 'continue') return { value: null, labels: [], error: outcome.errorReference }
    if (attempt === attempts) throw outcome.error
  }
}

/** The name of a step in the tree of runs: where it stands, and its key for who reads it. */
export function stepName(place: string, step: PlannedStep): string {
  return `${place}.${step.outputKey.slice(0, 40)}`
}

function outputOf({ output, text, labels }: ChildResult): StepOutcome {
  return { value: output === undefined ? text : output, labels }
}

function inputOf({ step, state, workflow, logger }: StepRun): JsonObject {
  if (step.mapping === undefined) return state.input
  const facts = { workflow, step: step.id }
  return mapInput(
    step.mapping,
    {
      resolve: (path) => state.resolve(path),
      warn: (path) =>
        logger.warn(
          { ...facts, path: path.text },
          'a reference in a text has no value and leaves nothing in its place',
        ),
    },
    (parameter, path) => unmapped(workflow, step, parameter, path),
  )
}

function unmapped(workflow: string, step: PlannedStep, parameter: string, path: Path): Error {
  return agentsError(
    'WORKFLOW_MAPPING_FAILED',
    `Parameter ${shown(parameter)} of step "${step.id}" of workflow "${workflow}" names {$.${path.text}}, which has no value.`,
    {
      details: { workflow, step: step.id, parameter, path: path.text },
      hint: 'Mend the path, or give the parameter `optional: true` or a `default`.',
    },
  )
}

/** What the step reads, and what has decided that it runs. */
function labelsOf(step: PlannedStep, state: WorkflowState): readonly Label[] {
  const paths = [...(step.condition?.paths ?? [])]
  for (const [, source] of step.mapping ?? []) paths.push(...pathsOf(source))
  const read = state.labelsOf(paths)
  return step.mapping === undefined ? union(state.inputLabels, read) : read
}

function union(left: readonly Label[], right: readonly Label[]): readonly Label[] {
  const more = right.filter(({ kind, source }) => !left.some((one) => one.kind === kind && one.source === source))
  return more.length === 0 ? left : [...left, ...more]
}
