import type { AgentDefinition } from '@sluice/core'
import { createConditionParser } from './condition.js'
import { pathsOf } from './input-mapping.js'
import { parseWorkflow } from './parse-workflow.js'
import type { Path } from './path.js'
import { DEFAULT_MAX_ITERATIONS } from './run-workflow.js'
import type { PlannedStep, WorkflowPlan } from './workflow-plan.js'
import { allSteps } from './workflow-plan.js'

/**
 * What is doubtful about a workflow and no fault: a loop whose limit is left to its default, fields that are read
 * of an agent without an answer schema. Empty where nothing is.
 *
 * @param agents the agents that its steps name, as far as they are known; nothing is said of others
 */
export function workflowWarnings(
  workflow: AgentDefinition,
  agents: readonly AgentDefinition[] = [],
): readonly string[] {
  const parsed = parseWorkflow(workflow.workflowDefinition, createConditionParser())
  if ('faults' in parsed) return parsed.faults
  const { plan } = parsed
  const known = new Map(agents.map((agent) => [agent.code, agent]))
  const warnings: string[] = []
  if (plan.kind === 'loop' && plan.loop.maxIterations === undefined && workflow.maxIterations === null)
    warnings.push(
      `loop_config.max_iterations: is left to its default of ${DEFAULT_MAX_ITERATIONS}; say how often it may go round`,
    )
  if (plan.kind === 'loop' && plan.loop.exit === undefined)
    warnings.push('loop_config.exit_condition: is not there; the loop always runs to its limit')
  return [...warnings, ...untypedFields(plan, known)]
}

/** Fields of a text are never there: conditions over them are false, and mappings fail. */
function untypedFields(plan: WorkflowPlan, known: ReadonlyMap<string, AgentDefinition>): string[] {
  const steps = allSteps(plan)
  const untyped = (key: string): PlannedStep | undefined => {
    const writers = steps.filter((step) => step.outputKey === key)
    return writers.find((step) => {
      const agent = known.get(step.agentCode)
      return agent?.agentType === 'profile' && agent.output === null
    })
  }
  const found: string[] = []
  const look = (place: string, paths: readonly Path[]): void => {
    for (const { text, segments } of paths) {
      const [root, key, field] = segments
      const step = root === 'steps' && field !== undefined ? untyped(String(key)) : undefined
      if (step !== undefined)
        found.push(
          `${place}: reads {$.${text}}, and agent "${step.agentCode}" has no answer schema in its definition: its output is a text`,
        )
    }
  }
  for (const step of steps) {
    look(`step ${step.id}, condition`, step.condition?.paths ?? [])
    for (const [parameter, source] of step.mapping ?? [])
      look(`step ${step.id}, parameter ${parameter}`, pathsOf(source))
  }
  look('loop_config.exit_condition', plan.loop.exit?.paths ?? [])
  look('final_message', plan.finalMessage === undefined ? [] : pathsOf(plan.finalMessage))
  return found
}
