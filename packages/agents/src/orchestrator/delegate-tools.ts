import type { AgentDescription, AgentWork, CompiledSchema, StandardSchemaV1, ToolDefinition } from '@sluice/core'
import { defineTool, SluiceError } from '@sluice/core'
import { z } from 'zod'
import { agentsError } from '../agents-error.js'
import type { Delegate } from './orchestrator-config.js'

/** What a delegate without an input schema is asked with (O-4). */
const PROMPT = z.object({ prompt: z.string().describe('What the agent is to do, with all that it has to know.') })

/**
 * The delegates of one run as tools, which nobody else is offered (O-3): each with the description and the input schema of its
 * agent as it is now.
 *
 * @throws DELEGATE_NOT_FOUND naming all that are missing, before anything was sent (O-13)
 */
export async function delegateTools(
  work: Pick<AgentWork, 'describe'>,
  orchestrator: string,
  delegates: readonly Delegate[],
): Promise<readonly ToolDefinition[]> {
  const tools: ToolDefinition[] = []
  const missing: string[] = []
  for (const delegate of delegates) {
    const found = await lookUp(work, delegate.code)
    if (found === undefined) missing.push(delegate.code)
    else tools.push(toolOf(delegate, found))
  }
  if (missing.length === 0) return tools
  throw agentsError(
    'DELEGATE_NOT_FOUND',
    `Agent "${orchestrator}" delegates to ${missing.map((code) => `"${code}"`).join(', ')}, which ${missing.length === 1 ? 'does' : 'do'} not exist or ${missing.length === 1 ? 'is' : 'are'} not active.`,
    {
      details: { agent: orchestrator, missing },
      hint: 'Activate a version of each, or take it out of delegate_agents.',
    },
  )
}

async function lookUp(work: Pick<AgentWork, 'describe'>, code: string): Promise<AgentDescription | undefined> {
  try {
    return await work.describe(code)
  } catch (error) {
    if (SluiceError.isInstance(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

function toolOf({ toolName, code, effect, dropsLabels }: Delegate, { description, input }: AgentDescription) {
  const schema = input === null ? PROMPT : schemaOf(input)
  return defineTool({ code: toolName, description, effect, input: schema, agent: code, dropsLabels }) as ToolDefinition
}

/**
 * The schema of an agent as that of a tool. What it makes of the arguments is left to the run, which checks them again: the
 * agent gets what the model has sent.
 */
function schemaOf(input: CompiledSchema): StandardSchemaV1<Record<string, unknown>> {
  const check = async (value: unknown): Promise<StandardSchemaV1.Result<Record<string, unknown>>> => {
    const found = await input.validate(value)
    if (found.ok) return { value: value as Record<string, unknown> }
    return { issues: found.issues.map(({ path, message }) => ({ message, ...(path === '' ? {} : { path: [path] }) })) }
  }
  const standard = {
    version: 1,
    vendor: 'sluice',
    validate: check,
    jsonSchema: { input: () => input.jsonSchema },
  } as const
  return { '~standard': standard }
}
