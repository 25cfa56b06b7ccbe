import type { AgentDefinition, PluginInstance, Runtime } from '@sluice/core'
import { defineAgent, definePlugin, Pause, Veto } from '@sluice/core'
import { handoffType, orchestratorType } from '@sluice/agents'
import type { Script } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import type { HouseOptions } from '../../runs/support/house.js'
import { house } from '../../runs/support/house.js'

export const ALL = { scope: 'all' } as const

/** A profile agent with a provider of its own name. It is sent its `prompt` and nothing else, unless `more` says otherwise. */
export const member = (code: string, more: object = {}): AgentDefinition =>
  defineAgent({
    code,
    description: `The ${code} of a team.`,
    model: `${code}/small`,
    system: `You are ${code}.`,
    user: '{prompt}',
    ...more,
  } as never) as never

/** The prompt profile of the orchestrator `lead`. */
export const leadProfile = (more: object = {}) =>
  ({
    code: 'lead',
    description: 'Leads.',
    provider: 'lead',
    model: 'big',
    system_prompt_template: 'You lead.',
    user_prompt_template: '{question}',
    ...more,
  }) as never

/** A runtime with these agents, and a provider with a script for each member and each name in `scripts`. What is left of a script fails the test. */
export async function openTeam(
  agents: readonly AgentDefinition[],
  scripts: Readonly<Record<string, Script>>,
  { prompts = [leadProfile()], others = [], ...rest }: Omit<HouseOptions, 'agents'> = {},
) {
  const names = agents.filter(({ agentType }) => agentType === 'profile').map(({ code }) => code)
  const providers = Object.fromEntries(
    [...new Set([...names, ...Object.keys(scripts)])].map((code) => [
      code,
      scriptedProvider(scripts[code] ?? [], { id: code }),
    ]),
  )
  const made = await house([], {
    ...rest,
    prompts,
    others: [...Object.values(providers), ...others],
    agentTypes: [orchestratorType(), handoffType()],
    agents,
  })
  /** What one provider was sent last, as pairs of role and text. */
  const sent = (code: string, request = -1): unknown[] =>
    (providers[code]?.requests.at(request)?.messages ?? []).map(({ role, content }) =>
      typeof content === 'string' ? [role, content] : [role, ...content.map((part) => textOf(part))],
    )
  /** The tools that one provider was offered, request by request. */
  const offered = (code: string): string[][] =>
    (providers[code]?.requests ?? []).map((request) => request.tools.map(({ name }) => name))
  const count = (code: string): number => providers[code]?.requests.length ?? 0
  return { ...made, providers, sent, offered, count }
}

function textOf(part: object): unknown {
  const { text, result, toolName, args } = part as Record<string, unknown>
  return text ?? result ?? `${String(toolName)}(${String(args)})`
}

/** Pauses every call of a tool until somebody has decided. */
export const approvalOf = (tool: string): PluginInstance =>
  definePlugin({
    name: 'approval',
    hookApi: 1,
    apply: (hooks) =>
      hooks.inspectToolInput.tap({ name: 'approval' }, ({ toolCode, decision }) => {
        if (toolCode === tool && decision === undefined) throw new Pause('APPROVE')
      }),
  })()

/** A gate point and whose asking there is vetoed. */
export interface VetoPlace {
  readonly point: 'beforeModelCall' | 'inspectReply' | 'beforeToolCall' | 'inspectToolInput'
  readonly agent?: string
  readonly tool?: string
  /** The text of the reply that is vetoed. */
  readonly reply?: string
}

/** Vetoes with `NO_<point>` at one place. */
export const vetoAt = ({ point, agent, tool, reply }: VetoPlace): PluginInstance =>
  definePlugin({
    name: 'rules',
    hookApi: 1,
    apply(hooks) {
      const gate = (context: {
        readonly agentCode: string | null
        readonly toolCode?: string
        readonly text?: unknown
      }) => {
        if (agent !== undefined && context.agentCode !== agent) return
        if (tool !== undefined && context.toolCode !== tool) return
        if (reply !== undefined && context.text !== reply) return
        throw new Veto(`NO_${point}`, 'Not today.')
      }
      hooks[point].tap({ name: 'rules' }, gate as never)
    },
  })()

/** Approves what a paused run waits for, and resumes it. */
export async function approve(
  runtime: Runtime,
  executionId: string,
  pending: readonly { readonly effectId: string }[],
) {
  for (const { effectId } of pending)
    await runtime.decide(executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
  return runtime.resume(executionId, ALL)
}

/** The rows of a tree, from the top down and in order of their start. */
export async function rowsOf(runtime: Runtime, rootExecutionId: string) {
  const { items } = await runtime.executions.list({ ...ALL, rootExecutionId, limit: 100 })
  return items.toReversed()
}

/** The message log of a session as role, speaker and what was said or called. */
export async function logOf(runtime: Runtime, sessionId: string) {
  const { items } = await runtime.sessions.messages(sessionId, ALL)
  return items.map((row) => [row.role, row.agentCode, row.content ?? row.toolName])
}
