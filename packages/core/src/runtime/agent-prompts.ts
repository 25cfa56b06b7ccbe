import type { ProfileAgentDefinition } from '../agents/agent-definition.js'
import type { RunContext } from '../context/run-context.js'
import { compileTemplate } from '../prompts/compile-template.js'
import type { CompiledTemplate } from '../prompts/compile-template.js'
import { promptValues } from '../prompts/prompt-values.js'
import type { PromptParameters } from '../prompts/prompt-values.js'
import { checkPlaceholders, renderCompiled } from '../prompts/render-template.js'

interface Templates {
  readonly system: CompiledTemplate | null
  readonly user: CompiledTemplate
}

/** The prompts that stand in agent definitions: each is scanned once per runtime. */
export class AgentPrompts {
  readonly #templates = new WeakMap<ProfileAgentDefinition, Templates>()

  /** Renders both prompts. @throws MISSING_PLACEHOLDER */
  render(
    agent: ProfileAgentDefinition,
    input: PromptParameters,
    runContext: RunContext,
  ): { system: string | null; user: string; replaced: readonly string[] } {
    let templates = this.#templates.get(agent)
    if (templates === undefined) {
      templates = {
        system: agent.system === null ? null : compileTemplate(agent.system),
        user: compileTemplate(agent.user ?? ''),
      }
      this.#templates.set(agent, templates)
    }
    const values = promptValues(input, runContext)
    const all = templates.system === null ? [templates.user] : [templates.system, templates.user]
    checkPlaceholders(all, values, `agent "${agent.code}"`)
    const replaced = all.flatMap((template) => template.placeholders).filter((name) => values.replaced(name))
    return {
      system: templates.system === null ? null : renderCompiled(templates.system, values),
      user: renderCompiled(templates.user, values),
      replaced,
    }
  }
}
