import type { ProfileAgentDefinition } from '../agents/agent-definition.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { CallPlan, ModelTarget } from '../generate/call-plan.js'
import { readSettings } from '../generate/settings.js'
import type { LoopSettings } from '../generate/settings.js'
import { outputFormat } from '../generate/structured-output.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject } from '../internal/json.js'
import { splitModelReference } from '../providers/model-provider.js'
import type { ModelProvider, ModelRequest, ReasoningSettings } from '../providers/model-provider.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { HostedToolDefinition } from '../tools/hosted-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { nearNames } from '../prompts/near-names.js'
import { checkSchemas } from './check-schemas.js'

/** What a call was asked to be, before its model is looked up and its parts are checked. */
export interface PlanOptions {
  /** `provider/model`. */
  readonly model: string
  readonly tools: readonly ToolDefinition[]
  readonly hostedTools: readonly HostedToolDefinition[]
  readonly toolChoice?: ModelRequest['toolChoice']
  readonly output: CompiledSchema | null
  readonly outputName?: string
  readonly settings: LoopSettings
  readonly reasoning?: ReasoningSettings | null
  readonly temperature?: number | null
  readonly topP?: number | null
  readonly stopSequences?: readonly string[] | null
  readonly providerOptions?: JsonObject | null
  readonly connection?: ModelRequest['connection']
  readonly stream: boolean
}

/** Resolves the options of a call. @throws UNKNOWN_PROVIDER, DUPLICATE_NAME, SCHEMA_UNSUPPORTED, REASONING_BUDGET_TOO_LARGE */
export function buildPlan(providers: ReadonlyMap<string, ModelProvider>, options: PlanOptions): CallPlan {
  const targets = [options.model, ...options.settings.fallback].map((reference) => targetOf(providers, reference))
  const tools = new Map<string, ToolDefinition>()
  for (const tool of options.tools) {
    if (tools.has(tool.code))
      throw new SluiceError('DUPLICATE_NAME', `The tool "${tool.code}" is offered twice.`, {
        hint: 'Offer it once, or rename one of them.',
      })
    tools.set(tool.code, tool)
  }
  for (const tool of options.hostedTools) {
    if (tools.has(tool.code))
      throw new SluiceError('DUPLICATE_NAME', `The hosted tool "${tool.code}" has the name of a tool.`, {
        hint: 'Rename one of them.',
      })
  }
  for (const { provider } of targets) checkSchemas(provider, tools.values(), options.output)
  const budget = options.reasoning?.budgetTokens
  if (budget !== undefined && budget >= options.settings.maxOutputTokens) {
    throw new SluiceError(
      'REASONING_BUDGET_TOO_LARGE',
      `The reasoning budget (${budget}) is not below maxOutputTokens (${options.settings.maxOutputTokens}).`,
      {
        hint: 'Raise maxOutputTokens, or lower the budget.',
        details: { budgetTokens: budget, maxOutputTokens: options.settings.maxOutputTokens },
      },
    )
  }
  return Object.freeze({
    targets,
    tools,
    offered: Object.freeze([...tools.values()].map((tool) => tool.offered)),
    toolNames: Object.freeze([...tools.keys()]),
    hosted: options.hostedTools,
    offeredHosted: options.hostedTools.map((tool) => tool.offered),
    settings: options.settings,
    stream: options.stream,
    ...(options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
    ...(options.output === null
      ? {}
      : { output: { format: outputFormat(options.output, options.outputName), schema: options.output } }),
    ...(options.reasoning == null ? {} : { reasoning: options.reasoning }),
    ...(options.temperature == null ? {} : { temperature: options.temperature }),
    ...(options.topP == null ? {} : { topP: options.topP }),
    ...(options.stopSequences == null ? {} : { stopSequences: options.stopSequences }),
    ...(options.providerOptions == null ? {} : { providerOptions: options.providerOptions }),
    ...(options.connection === undefined ? {} : { connection: options.connection }),
  })
}

/** The adapter and model of a reference. @throws UNKNOWN_PROVIDER naming near ones */
export function targetOf(providers: ReadonlyMap<string, ModelProvider>, reference: string): ModelTarget {
  const split = splitModelReference(reference)
  const provider = split === undefined ? undefined : providers.get(split.provider)
  if (split !== undefined && provider !== undefined) return { provider, model: split.model }
  const known = [...providers.keys()]
  const near = split === undefined ? [] : nearNames(split.provider, known)
  throw new SluiceError(
    'UNKNOWN_PROVIDER',
    split === undefined
      ? `"${escapeControl(reference, 120)}" is no model reference.`
      : `No provider "${escapeControl(split.provider, 80)}" is registered (asked for by "${escapeControl(reference, 120)}").`,
    {
      hint:
        split === undefined
          ? 'Write provider/model, such as "openai/gpt-5".'
          : near.length > 0
            ? `Did you mean ${near.join(' or ')}?`
            : `Registered are: ${known.join(', ') || 'none'}. Add the adapter to createRuntime({ providers }).`,
      details: { reference: reference.slice(0, 200), registered: known },
    },
  )
}

/** The settings of a run of this agent: those of the runtime, with its own over them. */
export function settingsOf(agent: ProfileAgentDefinition, base: LoopSettings): LoopSettings {
  if (Object.keys(agent.settings).length === 0) return base
  const faults = new Faults()
  const settings = readSettings(base, agent.settings, faults)
  faults.throwIfAny(`The settings of agent "${agent.code}" are not acceptable`)
  return settings
}
