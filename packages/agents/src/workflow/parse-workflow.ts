import type { Condition, ConditionParser } from './condition.js'
import { FaultList, shown } from './fault-list.js'
import type { ValueSource } from './input-mapping.js'
import { parseMapping, parseSource, pathsOf } from './input-mapping.js'
import type { Path } from './path.js'
import { isReserved } from './path.js'
import type { AggregationStrategy, ExecutionMode, OnStepError, WorkflowKind } from './workflow-json.js'
import type { PlannedStep, WorkflowPlan } from './workflow-plan.js'
import { allSteps } from './workflow-plan.js'

/** A plan, or everything that is wrong with the definition. */
export type ParsedWorkflow = { readonly plan: WorkflowPlan } | { readonly faults: readonly string[] }

const KINDS: readonly WorkflowKind[] = ['sequential', 'conditional', 'parallel', 'loop']
const MODES: readonly ExecutionMode[] = ['sequential', 'wait_all']
const AGGREGATIONS: readonly AggregationStrategy[] = ['merge', 'array', 'first']
const ON_ERROR: readonly OnStepError[] = ['stop', 'continue', 'retry']
const KEYS = [
  ...['workflow_type', 'steps', 'pre_steps', 'post_steps', 'loop_config', 'parallel_config', 'aggregation_strategy'],
  'final_message',
]
const STEP_KEYS = [
  ...['agent_code', 'output_key', 'input_mapping', 'condition', 'step_id', 'on_error', 'max_retries', 'drops_labels'],
]
const LOOP_KEYS = ['pre_steps', 'post_steps', 'loop_config']
const PARALLEL_KEYS = ['parallel_config', 'aggregation_strategy']
const OUTPUT_KEY = /^[A-Za-z0-9_-]{1,128}$/
const STEP_ID = /^[^\p{Cc}]{1,128}$/u
const AGENT_CODE = /^[A-Za-z0-9_.-]{1,128}$/
const MAX_STEPS = 1_000
const MAX_ITERATIONS = 10_000
const MAX_RETRIES = 10

/** Roots of paths in every workflow. */
export const WORKFLOW_ROOTS = ['input', 'steps', 'steps_errors'] as const
/** The root that loops have besides: completed iterations. */
export const LOOP_ROOT = '_loop_iterations'

type Given = Readonly<Record<string, unknown>>

/** Reads a `workflow_definition` (W-2): everything that is wrong with it at once, each fault with its place. */
export function parseWorkflow(given: unknown, parseCondition: ConditionParser): ParsedWorkflow {
  return new WorkflowReader(parseCondition).read(given)
}

class WorkflowReader {
  readonly #faults = new FaultList()
  readonly #parseCondition: ConditionParser
  #roots: readonly string[] = WORKFLOW_ROOTS

  constructor(parseCondition: ConditionParser) {
    this.#parseCondition = parseCondition
  }

  read(given: unknown): ParsedWorkflow {
    const faults = this.#faults
    if (!isObject(given)) return { faults: ['workflow_definition: must be an object'] }
    faults.addUnknown('workflow_definition', given, KEYS)
    const kind = this.#oneOf('workflow_type', given.workflow_type, KINDS) ?? 'sequential'
    if (kind === 'loop') this.#roots = [...WORKFLOW_ROOTS, LOOP_ROOT]
    else this.#refuse(given, LOOP_KEYS, 'belongs to workflows of type loop')
    if (kind !== 'parallel') this.#refuse(given, PARALLEL_KEYS, 'belongs to workflows of type parallel')
    const plan: WorkflowPlan = Object.freeze({
      kind,
      preSteps: this.#steps('pre_steps', given.pre_steps),
      steps: this.#steps('steps', given.steps, 'must be a list of at least one step'),
      postSteps: this.#steps('post_steps', given.post_steps),
      loop: this.#loop(kind, given),
      parallel: this.#parallel(given),
      finalMessage: isAbsent(given.final_message)
        ? undefined
        : parseSource('final_message', given.final_message, this.#roots, faults),
    })
    if (faults.list.length === 0) this.#checkKeys(plan)
    return faults.list.length > 0 ? { faults: faults.list } : { plan }
  }

  #steps(place: string, given: unknown, needed?: string): readonly PlannedStep[] {
    if (needed === undefined && isAbsent(given)) return []
    if (!Array.isArray(given) || (needed !== undefined && given.length === 0)) {
      this.#faults.add(place, needed ?? 'must be a list of steps')
      return []
    }
    if (given.length > MAX_STEPS) {
      this.#faults.add(place, `has more than ${MAX_STEPS} steps`)
      return []
    }
    return Object.freeze(given.map((step, index) => this.#step(`${place}[${index}]`, step)))
  }

  #step(place: string, step: unknown): PlannedStep {
    const faults = this.#faults
    const given = isObject(step) ? step : {}
    if (!isObject(step)) faults.add(place, 'must be an object')
    else {
      faults.addUnknown(place, given, STEP_KEYS)
      this.#name(`${place}.agent_code`, given.agent_code, AGENT_CODE, 'must be the code of an agent')
      this.#name(`${place}.output_key`, given.output_key, OUTPUT_KEY, 'must be 1 to 128 letters, digits, `_` and `-`')
    }
    const onError = isAbsent(given.on_error)
      ? 'stop'
      : (this.#oneOf(`${place}.on_error`, given.on_error, ON_ERROR) ?? 'stop')
    if (!isAbsent(given.max_retries) && onError !== 'retry')
      faults.add(`${place}.max_retries`, "goes with on_error: 'retry' only")
    const { step_id: id, drops_labels: dropsLabels } = given
    if (!isAbsent(id) && (typeof id !== 'string' || !STEP_ID.test(id)))
      faults.add(`${place}.step_id`, 'must be a text of 1 to 128 characters on one line')
    if (!isAbsent(dropsLabels) && typeof dropsLabels !== 'boolean')
      faults.add(`${place}.drops_labels`, 'must be true or false')
    return Object.freeze({
      agentCode: String(given.agent_code),
      outputKey: String(given.output_key),
      id: typeof id === 'string' ? id : String(given.output_key),
      mapping: isAbsent(given.input_mapping)
        ? undefined
        : Object.freeze(parseMapping(`${place}.input_mapping`, given.input_mapping, this.#roots, faults)),
      condition: this.#condition(`${place}.condition`, given.condition),
      onError,
      maxRetries: this.#count(`${place}.max_retries`, given.max_retries, MAX_RETRIES) ?? 1,
      dropsLabels: dropsLabels === true,
    })
  }

  #loop(kind: WorkflowKind, given: Given): WorkflowPlan['loop'] {
    const { loop_config: config } = given
    if (kind !== 'loop') return NO_LOOP
    if (!isObject(config)) {
      this.#faults.add('loop_config', 'must be an object: { max_iterations, exit_condition }')
      return NO_LOOP
    }
    this.#faults.addUnknown('loop_config', config, ['max_iterations', 'exit_condition'])
    return Object.freeze({
      maxIterations: this.#count('loop_config.max_iterations', config.max_iterations, MAX_ITERATIONS),
      exit: this.#condition('loop_config.exit_condition', config.exit_condition),
    })
  }

  #parallel(given: Given): WorkflowPlan['parallel'] {
    const config = given.parallel_config ?? {}
    if (!isObject(config)) {
      this.#faults.add('parallel_config', 'must be an object: { execution_mode, aggregation_strategy }')
      return ONE_BY_ONE
    }
    this.#faults.addUnknown('parallel_config', config, ['execution_mode', 'aggregation_strategy'])
    const mode = isAbsent(config.execution_mode)
      ? undefined
      : this.#oneOf('parallel_config.execution_mode', config.execution_mode, MODES)
    const [outer, inner] = [given.aggregation_strategy, config.aggregation_strategy]
    if (!isAbsent(outer) && !isAbsent(inner) && outer !== inner)
      this.#faults.add('aggregation_strategy', 'is given twice, and differs from that of parallel_config')
    const named = outer ?? inner
    const aggregation = isAbsent(named) ? undefined : this.#oneOf('aggregation_strategy', named, AGGREGATIONS)
    return Object.freeze({ mode: mode ?? 'sequential', aggregation: aggregation ?? 'merge' })
  }

  #condition(place: string, given: unknown): Condition | undefined {
    if (isAbsent(given)) return undefined
    const condition = this.#parseCondition(given, this.#roots)
    if (!('faults' in condition)) return condition
    for (const fault of condition.faults) this.#faults.add(place, fault)
    return undefined
  }

  #oneOf<Value extends string>(place: string, given: unknown, values: readonly Value[]): Value | undefined {
    if (values.includes(given as Value)) return given as Value
    const what = typeof given === 'string' ? `, not ${shown(given)}` : ''
    this.#faults.add(place, `must be one of ${values.join(', ')}${what}`)
    return undefined
  }

  #count(place: string, given: unknown, most: number): number | undefined {
    if (isAbsent(given)) return undefined
    if (Number.isSafeInteger(given) && (given as number) >= 1 && (given as number) <= most) return given as number
    this.#faults.add(place, `must be a whole number from 1 to ${most}`)
    return undefined
  }

  #name(place: string, given: unknown, pattern: RegExp, what: string): void {
    if (typeof given !== 'string' || !pattern.test(given)) this.#faults.add(place, what)
    else if (isReserved(given)) this.#faults.add(place, `must not be ${shown(given)}`)
  }

  #refuse(given: Given, keys: readonly string[], why: string): void {
    for (const key of keys) if (!isAbsent(given[key])) this.#faults.add(key, why)
  }

  /** A path into an output that no step has is a slip of the pen (W-W3). */
  #checkKeys(plan: WorkflowPlan): void {
    const steps = allSteps(plan)
    const known = new Set(steps.map((step) => step.outputKey))
    const check = (place: string, paths: readonly Path[]): void => {
      for (const { text, segments } of paths) {
        const [root, key] = segments
        if (root !== 'steps' && root !== 'steps_errors') continue
        if (key !== undefined && !known.has(String(key)))
          this.#faults.add(
            place,
            `names {$.${text.slice(0, 120)}}, and no step has that output_key; there are ${[...known].join(', ')}`,
          )
      }
    }
    for (const step of steps) {
      check(`step ${step.id}, condition`, step.condition?.paths ?? [])
      for (const [parameter, source] of step.mapping ?? [])
        check(`step ${step.id}, parameter ${shown(parameter)}`, pathsOf(source))
    }
    check('loop_config.exit_condition', plan.loop.exit?.paths ?? [])
    check('final_message', finalPaths(plan.finalMessage))
  }
}

const NO_LOOP: WorkflowPlan['loop'] = Object.freeze({ maxIterations: undefined, exit: undefined })
const ONE_BY_ONE: WorkflowPlan['parallel'] = Object.freeze({ mode: 'sequential', aggregation: 'merge' })

function finalPaths(source: ValueSource | undefined): readonly Path[] {
  return source === undefined ? [] : pathsOf(source)
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function isObject(value: unknown): value is Given {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
