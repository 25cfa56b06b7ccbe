import { isThenable } from '../internal/json.js'
import type { MaybePromise } from '../internal/json.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentDefinition } from './agent-definition.js'
import { sealAgent } from './agent-definition.js'
import type { AgentRegistry } from './agent-registry.js'
import type { ResolvedAgent } from './agent-type.js'

/** What an extension gives an agent. Hand out the same object while nothing has changed: it is then worked out once. */
export interface AgentAddition {
  /** Keys of the run context that a run needs besides those of the definition; checked before there is a row or a hook. */
  readonly requiredContext?: readonly string[]
  /**
   * Stands behind the rendered system prompt of a first turn, one blank line between, before `augmentSystemPrompt` sees it.
   * It is no template: braces are text.
   */
  readonly systemBlock?: string
  /** Tools besides those of the definition. One whose code the agent has already is left out. */
  readonly tools?: readonly ToolDefinition[]
}

/** Gives agents more than their definitions say: of any type, in code or in the store. For packages that bring such a thing. */
export interface AgentExtension {
  /** Letters, digits and `-`. */
  readonly name: string
  /**
   * Asked whenever an agent is looked up for a run. Answer without a promise where you can. An error ends that call.
   */
  extend(agent: {
    readonly code: string
    readonly definition: AgentDefinition
  }): MaybePromise<AgentAddition | undefined>
}

/** A registry whose agents run with what the extensions add. Everything else of it stays. */
export function withExtensions(registry: AgentRegistry, extensions: readonly AgentExtension[]): AgentRegistry {
  if (extensions.length === 0) return registry
  const kept = new WeakMap<ResolvedAgent, { readonly additions: readonly unknown[]; readonly agent: ResolvedAgent }>()
  const extended = (agent: ResolvedAgent, additions: readonly (AgentAddition | undefined)[]): ResolvedAgent => {
    const before = kept.get(agent)
    if (before?.additions.every((one, index) => one === additions[index]) === true) return before.agent
    const made = additions.reduce<ResolvedAgent>(addTo, agent)
    kept.set(agent, { additions, agent: made })
    return made
  }
  const extend = (agent: ResolvedAgent): MaybePromise<ResolvedAgent> => {
    const additions = extensions.map((one) => one.extend(agent))
    if (additions.every(isAddition)) return extended(agent, additions)
    return Promise.all(additions.map(async (one) => one)).then((all) => extended(agent, all))
  }
  return Object.freeze({
    ...registry,
    resolve(agent, version) {
      const found = registry.resolve(agent, version)
      return 'then' in found ? found.then(extend) : extend(found)
    },
  } satisfies AgentRegistry)
}

function isAddition(answer: MaybePromise<AgentAddition | undefined>): answer is AgentAddition | undefined {
  return !isThenable(answer)
}

function addTo(agent: ResolvedAgent, addition: AgentAddition | undefined): ResolvedAgent {
  // null says the same, whatever its author's types are
  if (addition === undefined || addition === null) return agent
  const { requiredContext = [], systemBlock, tools = [] } = addition
  const known = new Set(agent.tools.map(({ code }) => code))
  const { definition } = agent
  return Object.freeze({
    ...agent,
    definition:
      requiredContext.length === 0
        ? definition
        : sealAgent({
            ...definition,
            requiredContext: [...new Set([...definition.requiredContext, ...requiredContext])],
          }),
    tools: Object.freeze([...agent.tools, ...tools.filter(({ code }) => !known.has(code))]),
    systemBlocks: Object.freeze([...(agent.systemBlocks ?? []), ...(systemBlock === undefined ? [] : [systemBlock])]),
  })
}

/** A rendered system prompt with the blocks of the extensions behind it. */
export function withSystemBlocks(system: string | null, { systemBlocks = [] }: ResolvedAgent): string | null {
  if (systemBlocks.length === 0) return system
  return (system === null || system === '' ? systemBlocks : [system, ...systemBlocks]).join('\n\n')
}
