import { isProfileAgent } from '../agents/agent-definition.js'
import type { ProfileAgentDefinition } from '../agents/agent-definition.js'
import type { ResolvedAgent } from '../agents/agent-type.js'
import type { LoopSettings } from '../generate/settings.js'
import type { Limits } from '../generate/settings.js'
import type { HookPoint } from '../hooks/hook-points.js'
import { HOOK_POINTS } from '../hooks/hook-points.js'
import { describeError } from '../hooks/observe.js'
import type { CompiledTap, HookSet } from '../hooks/hook-set.js'
import type { Receipt } from '../hooks/receipt.js'
import { resolvePromptCall } from '../prompts/prepare-prompt.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { agentTypeOf } from './agent-type-of.js'
import { settingsOf } from './build-plan.js'
import { originOf } from './execution-row.js'
import type { RuntimeFace } from './runtime-core.js'

/** One tool that an agent can reach. */
export interface ExplainedTool {
  readonly code: string
  readonly description: string
  readonly effect: 'read' | 'write' | 'send'
  readonly untrusted: boolean
  readonly cost: string | null
  /** Agents on the way to it, outermost first; empty for the agent's own. */
  readonly through: readonly string[]
  /** Code of the agent behind it, where it has one. */
  readonly agent: string | null
  readonly hosted: boolean
  /** True where nothing tells that the tool looks at the run context: binding arguments does not narrow it. */
  readonly ignoresRunContext: boolean
}

/** One gate or observer, in the order of its asking. */
export interface ExplainedTap {
  readonly point: string
  readonly kind: string
  readonly plugin: string
  readonly tap: string
  readonly stage: number
  readonly timeoutMs: number
  readonly shadow: boolean
}

/** The capability report of an agent (B-26). */
export interface Explanation {
  readonly agent: {
    readonly code: string
    readonly version: number
    readonly type: string
    readonly description: string
    readonly model: string | null
  }
  readonly tools: readonly ExplainedTool[]
  /** Codes of the tools that write or send. */
  readonly writes: readonly string[]
  readonly limits: Limits
  readonly settings: LoopSettings
  readonly hooks: {
    /** `explicit`, `convention:<path>#<digest>`, `override` or `fork`. */
    readonly origin: string
    readonly plugins: readonly {
      readonly plugin: string
      readonly version: string | null
      readonly shadow: boolean
      readonly points: readonly string[]
    }[]
    readonly taps: readonly ExplainedTap[]
  }
  /** Keys of the run context that a run of this agent, or of one behind its tools, needs. */
  readonly requiredContext: readonly string[]
  /** Receipts of the agent's last run. */
  readonly lastReceipts: readonly Receipt[]
  readonly warnings: readonly string[]
  /** How to switch it off. */
  readonly switchOff: string
}

/** `runtime.explain`: what an agent can do, what stands in front of it, and how to stop it. */
export async function explain(face: RuntimeFace, code: string): Promise<Explanation> {
  const { core } = face
  const agent = await core.agents.resolve(code)
  const { set, fault } = face.slot.state
  if (set === undefined) throw fault
  const reach = new Reach(face)
  await reach.add(agent, [])
  const profile = agent.definition.agentType === 'profile' ? (agent.definition as ProfileAgentDefinition) : undefined
  return {
    agent: {
      code: agent.code,
      version: agent.version,
      type: agent.definition.agentType,
      description: agent.definition.description,
      model: profile?.model ?? null,
    },
    tools: reach.tools,
    writes: reach.tools.filter((tool) => tool.effect !== 'read').map((tool) => tool.code),
    limits: core.parts.limits,
    settings: profile === undefined ? core.parts.settings : settingsOf(profile, core.parts.settings),
    hooks: {
      origin: originOf(set),
      plugins: set.plugins.map((plugin) => ({
        plugin: plugin.key,
        version: plugin.version,
        shadow: plugin.shadow,
        points: [...new Set(plugin.taps.map((tap) => tap.point))],
      })),
      taps: explainTaps(set),
    },
    requiredContext: [...reach.requiredContext],
    lastReceipts: await lastReceipts(face, agent),
    warnings: reach.warnings,
    switchOff: `runtime.agents.changeStatus({ code: '${agent.code}', version: ${agent.version} }, 'archived') retires the agent; runtime.setHooks([...]) changes its gates; runtime.cancel(executionId, { scope }) ends a run.`,
  }
}

/** Tools behind tools, each agent once. */
class Reach {
  readonly #face: RuntimeFace
  readonly tools: ExplainedTool[] = []
  readonly requiredContext = new Set<string>()
  readonly warnings: string[] = []
  readonly #seen = new Set<string>()

  constructor(face: RuntimeFace) {
    this.#face = face
  }

  async add(agent: ResolvedAgent, through: readonly string[]): Promise<void> {
    if (this.#seen.has(agent.code)) return
    this.#seen.add(agent.code)
    for (const key of agent.definition.requiredContext) this.requiredContext.add(key)
    for (const tool of agent.tools) {
      this.tools.push(explainTool(tool, through))
      for (const key of tool.requiresContext) this.requiredContext.add(key)
      if (tool.agent !== null) await this.#behind(tool.agent, [...through, agent.code])
    }
    if (isProfileAgent(agent.definition)) {
      this.#hosted(agent.definition, through)
      if (agent.definition.profile !== null) await this.#profile(agent.definition.profile)
    } else await this.#parts(agent, through)
  }

  /** An agent that is made of others reaches what they reach. */
  async #parts(agent: ResolvedAgent, through: readonly string[]): Promise<void> {
    const named = agentTypeOf(this.#face.core, agent).references(agent.definition)
    for (const profile of named.profiles) await this.#profile(profile)
    for (const code of named.agents) await this.#behind(code, [...through, agent.code])
  }

  /** What in the configuration of a prompt profile has no effect: a named credential above all. */
  async #profile({ code, version }: { readonly code: string; readonly version: number | null }): Promise<void> {
    try {
      const { prompt } = await this.#face.core.prompts.resolve(code, version ?? undefined)
      for (const warning of resolvePromptCall(prompt).warnings)
        this.warnings.push(`prompt profile "${code}": ${warning}`)
    } catch (error) {
      this.warnings.push(`prompt profile "${code}" cannot be used: ${describeError(error)}`)
    }
  }

  async #behind(code: string, through: readonly string[]): Promise<void> {
    try {
      await this.add(await this.#face.core.agents.resolve(code), through)
    } catch (error) {
      this.warnings.push(`agent "${code}" below cannot run: ${describeError(error)}`)
    }
  }

  #hosted(definition: ProfileAgentDefinition, through: readonly string[]): void {
    for (const tool of definition.hostedTools) {
      this.tools.push({
        code: tool.code,
        description: `runs at ${tool.provider}`,
        effect: tool.effect,
        untrusted: tool.untrusted,
        cost: tool.cost?.usd ?? null,
        through,
        agent: null,
        hosted: true,
        ignoresRunContext: true,
      })
    }
  }
}

function explainTool(tool: ToolDefinition, through: readonly string[]): ExplainedTool {
  return {
    code: tool.code,
    description: tool.description,
    effect: tool.effect,
    untrusted: tool.untrusted,
    cost: tool.cost?.usd ?? null,
    through,
    agent: tool.agent,
    hosted: false,
    ignoresRunContext: tool.requiresContext.length === 0 && tool.agent === null,
  }
}

function explainTaps(set: HookSet): readonly ExplainedTap[] {
  const taps: ExplainedTap[] = []
  const add = (point: HookPoint, list: readonly CompiledTap[]): void => {
    for (const tap of list) {
      taps.push({
        point,
        kind: HOOK_POINTS[point].kind,
        plugin: tap.plugin,
        tap: tap.name,
        stage: tap.stage,
        timeoutMs: tap.timeoutMs,
        shadow: tap.shadow,
      })
    }
  }
  for (const point of Object.keys(HOOK_POINTS) as HookPoint[]) {
    if (point === 'augmentSystemPrompt') add(point, set.prompt)
    else if (Object.hasOwn(set.gates, point)) add(point, set.gates[point as keyof HookSet['gates']])
    else add(point, set.observers[point as keyof HookSet['observers']])
  }
  return taps
}

async function lastReceipts(face: RuntimeFace, agent: ResolvedAgent): Promise<readonly Receipt[]> {
  const { store } = face.core.parts
  const page = await store.executions.list({ agentCode: agent.code, limit: 1 })
  const [last] = page.items
  if (last === undefined) return []
  const all = (await store.receipts.list(last.rootExecutionId)) as unknown as readonly Receipt[]
  return all.slice(-20)
}
