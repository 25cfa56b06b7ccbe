import type { AgentDefinition, AgentType, JsonObject } from '@sluice/core'
import { agentsError } from '../agents-error.js'
import { createConditionParser } from './condition.js'
import type { ParsedWorkflow } from './parse-workflow.js'
import { parseWorkflow } from './parse-workflow.js'
import { runWorkflow } from './run-workflow.js'
import { allSteps } from './workflow-plan.js'

/** The value of `agent_type`. */
export const WORKFLOW = 'workflow'

/**
 * The agent type `workflow`: steps that are runs of other agents, in order, side by side or in a loop.
 *
 * @example
 * const runtime = await createRuntime({ agentTypes: [workflowType()], agents: [writer, rater, refine], providers, plugins })
 */
export function workflowType(): AgentType {
  const parseCondition = createConditionParser()
  // a definition is read once, however often it runs
  const read = new WeakMap<JsonObject, ParsedWorkflow>()
  const planOf = ({ workflowDefinition }: AgentDefinition): ParsedWorkflow => {
    if (workflowDefinition === null) return { faults: ['workflow_definition: is missing'] }
    let parsed = read.get(workflowDefinition)
    if (parsed === undefined) {
      parsed = parseWorkflow(workflowDefinition, parseCondition)
      read.set(workflowDefinition, parsed)
    }
    return parsed
  }
  return Object.freeze({
    type: WORKFLOW,
    accepts: Object.freeze({ output: false, followUp: false, files: false }),
    validate(definition) {
      const parsed = planOf(definition)
      const faults = 'faults' in parsed ? [...parsed.faults] : []
      if (definition.orchestrationConfig !== null) faults.push('orchestration_config: belongs to other types of agents')
      return faults
    },
    references(definition) {
      const parsed = planOf(definition)
      const agents = 'faults' in parsed ? [] : allSteps(parsed.plan).map((step) => step.agentCode)
      return { agents: [...new Set(agents)], profiles: [] }
    },
    async run(invocation) {
      const { code, definition } = invocation.agent
      const parsed = planOf(definition)
      if (!('faults' in parsed)) return runWorkflow(parsed.plan, invocation)
      throw agentsError('WORKFLOW_INVALID', `Workflow "${code}" cannot be read:\n- ${parsed.faults.join('\n- ')}`, {
        details: { workflow: code, faults: parsed.faults.slice(0, 20) },
      })
    },
  } satisfies AgentType)
}
