import type { AgentInvocation, AgentResult, JsonObject, JsonValue, Label, Message } from '@sluice/core'
import { leavesRun } from '@sluice/core'
import { agentsError } from '../agents-error.js'
import { readSource } from './input-mapping.js'
import { runStep, stepName } from './run-step.js'
import type { StepOutcome } from './run-step.js'
import { toText } from './template.js'
import type { PlannedStep, WorkflowPlan } from './workflow-plan.js'
import { WorkflowState } from './workflow-state.js'

/** Iterations of a loop that nobody has limited (W-29). */
export const DEFAULT_MAX_ITERATIONS = 10

/** Runs a workflow: its steps, then its answer. */
export function runWorkflow(plan: WorkflowPlan, invocation: AgentInvocation): Promise<AgentResult> {
  return new WorkflowRun(plan, invocation).run()
}

/** One run of a workflow, and what it has counted. */
class WorkflowRun {
  readonly #plan: WorkflowPlan
  readonly #invocation: AgentInvocation
  readonly #state: WorkflowState
  /** Steps that ran; skipped ones are none. */
  #executed = 0
  /** Output of the step that ran last (W-21). */
  #last: JsonValue = null

  constructor(plan: WorkflowPlan, invocation: AgentInvocation) {
    this.#plan = plan
    this.#invocation = invocation
    this.#state = new WorkflowState(invocation.input, invocation.work.labels)
  }

  async run(): Promise<AgentResult> {
    const { work, input, agent } = this.#invocation
    await work.say([spoken('user', inputText(input), work.labels)], null)
    const told = await this.#runSteps()
    const answer = this.#answer(told.answer)
    const text = answer === null ? null : toText(answer)
    await work.say([spoken('assistant', text ?? '', work.labels)], agent.code)
    return {
      text,
      output: typeof answer !== 'string' && answer !== null ? answer : this.#promised ? answer : undefined,
      finishReason: 'stop',
      iterationCount: this.#state.iterations ?? 0,
      details: { ...this.#state.toJson(), _workflow_iterations: this.#executed, ...told.details },
    }
  }

  /** With an answer schema, whatever the answer is has to fit it. */
  get #promised(): boolean {
    return this.#invocation.agent.definition.output !== null
  }

  async #runSteps(): Promise<{ readonly answer?: JsonValue; readonly details: JsonObject }> {
    const { kind, steps, parallel } = this.#plan
    if (kind === 'loop') return { details: await this.#loop() }
    if (kind !== 'parallel') {
      await this.#oneByOne('s', steps)
      return { details: {} }
    }
    const outcomes = parallel.mode === 'wait_all' ? await this.#together() : await this.#oneByOne('s', steps)
    return { answer: this.#aggregate(outcomes), details: { _parallel_execution_mode: parallel.mode } }
  }

  /** Steps in their order, each with the state so far (W-21). `stop` is asked behind each of them. */
  async #oneByOne(place: string, steps: readonly PlannedStep[], stop?: () => boolean): Promise<readonly StepOutcome[]> {
    const { work } = this.#invocation
    const outcomes: StepOutcome[] = []
    for (const [index, step] of steps.entries()) {
      const outcome = await runStep({ ...this.#stepParts(place, index, step), work, state: this.#state })
      outcomes.push(outcome)
      if (outcome !== undefined) {
        this.#keep(step, outcome)
        await this.#checkpoint()
      }
      if (stop?.() === true) break
    }
    return outcomes
  }

  /** All steps at once: each sees the state as it was before, and the outputs are kept in the order of the list (W-26). */
  async #together(): Promise<readonly StepOutcome[]> {
    const { work } = this.#invocation
    // nothing is put into it before all of them have ended
    const state = this.#state
    const settled = await Promise.allSettled(
      this.#plan.steps.map((step, index) => {
        const parts = this.#stepParts('s', index, step)
        return work.branch(parts.name, (branch) => runStep({ ...parts, name: 'step', work: branch, state }))
      }),
    )
    const failed = settled.filter((one) => one.status === 'rejected')
    // a pause leaves the run only where nothing has failed
    const first = failed.find(({ reason }) => !leavesRun(reason)) ?? failed[0]
    if (first !== undefined) throw first.reason
    const outcomes = settled.map((one) => (one as PromiseFulfilledResult<StepOutcome>).value)
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome !== undefined) this.#keep(this.#plan.steps[index] as PlannedStep, outcome)
    }
    await this.#checkpoint()
    return outcomes
  }

  async #loop(): Promise<JsonObject> {
    const { preSteps, steps, postSteps, loop } = this.#plan
    const most = loop.maxIterations ?? this.#invocation.agent.definition.maxIterations ?? DEFAULT_MAX_ITERATIONS
    const state = this.#state
    state.iterations = 0
    await this.#oneByOne('pre', preSteps)
    const snapshots: JsonObject[] = []
    let exited = false
    const leave = (): boolean => {
      exited = loop.exit?.holds((path) => state.resolve(path)) === true
      return exited
    }
    for (let iteration = 1; iteration <= most && !exited; iteration++) {
      const outcomes = await this.#oneByOne(`i${iteration}`, steps, leave)
      // an iteration counts when all of its steps had their turn
      if (outcomes.length === steps.length) {
        state.iterations = iteration
        snapshots.push(state.outputs())
      }
    }
    await this.#oneByOne('post', postSteps)
    return { _loop_iteration_state: snapshots, _loop_exit_reason: exited ? 'condition' : 'max_iterations' }
  }

  #stepParts(place: string, index: number, step: PlannedStep) {
    const { logger, agent } = this.#invocation
    const at = place.startsWith('i') ? `${place}.s${index + 1}` : `${place}${index + 1}`
    return { step, name: stepName(at, step), workflow: agent.code, logger }
  }

  #keep(step: PlannedStep, outcome: NonNullable<StepOutcome>): void {
    this.#state.put(step.outputKey, outcome)
    this.#last = outcome.value
    this.#executed += 1
  }

  async #checkpoint(): Promise<void> {
    await this.#invocation.work.checkpoint(this.#state.toJson())
  }

  #aggregate(outcomes: readonly StepOutcome[]): JsonValue {
    const { steps, parallel } = this.#plan
    const ran = outcomes.flatMap((outcome, index) =>
      outcome === undefined ? [] : [{ key: (steps[index] as PlannedStep).outputKey, outcome }],
    )
    if (ran.length === 0) return null
    switch (parallel.aggregation) {
      case 'array':
        return ran.map(({ outcome }) => outcome.value)
      case 'first':
        return ran.find(({ outcome }) => outcome.error === undefined)?.outcome.value ?? null
      case 'merge':
        return Object.fromEntries(ran.map(({ key, outcome }) => [key, outcome.value]))
    }
  }

  /** The `final_message` of the definition, else what the steps came to (W-24, W-35). */
  #answer(aggregate: JsonValue | undefined): JsonValue {
    const { finalMessage } = this.#plan
    if (finalMessage === undefined) return aggregate === undefined ? this.#last : aggregate
    const { agent, logger } = this.#invocation
    const read = readSource(finalMessage, {
      resolve: (path) => this.#state.resolve(path),
      warn: (path) =>
        logger.warn(
          { workflow: agent.code, path: path.text },
          'a reference in final_message has no value and leaves nothing in its place',
        ),
    })
    if (read.kind === 'value') return read.value
    if (read.kind === 'omitted') return null
    throw agentsError(
      'WORKFLOW_FINAL_MESSAGE_FAILED',
      `The final_message of workflow "${agent.code}" names {$.${read.path.text}}, which has no value.`,
      { details: { workflow: agent.code, path: read.path.text }, hint: 'Mend the path, or give it a `default`.' },
    )
  }
}

/** The input as a conversation shows it: its only text, else all of it as JSON. */
function inputText(input: JsonObject): string {
  const values = Object.values(input)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input)
}

function spoken(role: 'user' | 'assistant', text: string, labels: readonly Label[]): Message {
  const own = labels.length === 0 ? {} : { labels }
  return role === 'user'
    ? { role, content: [{ type: 'text', text, ...own }] }
    : { role, content: [{ type: 'text', text }], ...own }
}
