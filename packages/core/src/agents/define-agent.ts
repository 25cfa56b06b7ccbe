import { Faults, named } from '../errors/faults.js'
import type { LoopSettings } from '../generate/settings.js'
import type { StandardSchemaV1 } from '../hooks/standard-schema.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject } from '../internal/json.js'
import { isPlainObject } from '../internal/json.js'
import type { ReasoningSettings } from '../providers/model-provider.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import { validatorOf } from '../tools/compile-validator.js'
import type { HostedToolDefinition } from '../tools/hosted-tool.js'
import type { SchemaOutput, SchemaSource } from '../tools/schema.js'
import { convertSchema } from '../tools/schema.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { ProfileAgentDefinition } from './agent-definition.js'
import { sealAgent } from './agent-definition.js'
import { checkAgentFields, checkProfileFields } from './check-agent.js'
import type { TemplateInput } from './template-input.js'

interface AgentOptionsBase<
  InputSource extends SchemaSource | undefined,
  OutputSource extends SchemaSource | undefined,
  Context extends string,
> {
  /** Letters, digits, `_`, `.` and `-`, 1 to 128 characters. */
  readonly code: string
  /** What the agent is for; other agents choose by it. */
  readonly description: string
  /** What the model may call: definitions, or codes of tools given to `createRuntime`. Default none. */
  readonly tools?: readonly (ToolDefinition<never> | ToolDefinition | string)[]
  /** Tools that run at the provider. Default none. */
  readonly hostedTools?: readonly HostedToolDefinition[]
  /** Schema of the input; its values fill the placeholders. Without it, the placeholders say what is needed. */
  readonly input?: InputSource
  /** Schema of the answer: `run.output` is validated and typed by it. */
  readonly output?: OutputSource
  /** Keys of the run context without which a run is refused before any gate is asked. Default none. */
  readonly requiredContext?: readonly Context[]
  /** Tool calls with a result in one call. Default that of the runtime. */
  readonly maxToolCalls?: number
  /** Most messages of the earlier conversation that a follow-up sends. Default all. */
  readonly maxHistoryMessages?: number
  /** Default: the limit of the tree. */
  readonly timeoutSeconds?: number
  readonly settings?: Partial<LoopSettings>
  readonly reasoning?: ReasoningSettings
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  /** Raw options of the provider, merged into each request. */
  readonly providerOptions?: JsonObject
}

/** What {@link defineAgent} takes: a model with prompts in place, or the prompt profile that has them. */
export type AgentOptions<
  System extends string = string,
  User extends string = string,
  InputSource extends SchemaSource | undefined = SchemaSource | undefined,
  OutputSource extends SchemaSource | undefined = SchemaSource | undefined,
  Context extends string = string,
> = AgentOptionsBase<InputSource, OutputSource, Context> &
  (
    | {
        /** `provider/model`. */
        readonly model: string
        /** Template of the system prompt. Default none. */
        readonly system?: System
        /** Template of the user prompt: `'{question}'`. */
        readonly user: User
        readonly profile?: undefined
      }
    | {
        /** Code of a stored prompt profile: its latest active version, or the one named. */
        readonly profile: string | { readonly code: string; readonly version?: number }
        readonly model?: undefined
        readonly system?: undefined
        readonly user?: undefined
      }
  )

/** The input that an agent takes. */
export type InputOf<InputSource, System extends string, User extends string, Context extends string> = [
  InputSource,
] extends [StandardSchemaV1]
  ? StandardSchemaV1.InferInput<InputSource>
  : [InputSource] extends [JsonObject]
    ? JsonObject
    : TemplateInput<System | User, Context>

/** The `run.output` that an agent gives: `undefined` without an answer schema. */
export type OutputOf<OutputSource> = [OutputSource] extends [SchemaSource] ? SchemaOutput<OutputSource> : undefined

const KEYS: readonly string[] = [
  ...['code', 'description', 'model', 'system', 'user', 'profile', 'tools', 'hostedTools', 'input', 'output'],
  ...['requiredContext', 'maxToolCalls', 'maxHistoryMessages', 'timeoutSeconds', 'settings', 'reasoning'],
  ...['temperature', 'topP', 'stopSequences', 'providerOptions'],
]

/**
 * Defines a profile agent: one model, its prompts and its tools. The result is frozen; give it to
 * `createRuntime({ agents })` and run it by its code or by the definition itself.
 *
 * @example
 * const desk = defineAgent({ code: 'ap_desk', description: 'Answers questions about invoices.', model: 'openai/gpt-5',
 *   system: 'You help {clerk}.', user: '{question}', requiredContext: ['clerk'], tools: [getInvoice] })
 *
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all faults of the definition at once
 */
export function defineAgent<
  const System extends string = '',
  const User extends string = '',
  InputSource extends SchemaSource | undefined = undefined,
  OutputSource extends SchemaSource | undefined = undefined,
  const Context extends string = never,
>(
  options: AgentOptions<System, User, InputSource, OutputSource, Context>,
): ProfileAgentDefinition<InputOf<InputSource, System, User, Context>, OutputOf<OutputSource>> {
  const faults = new Faults()
  const given: Readonly<Record<string, unknown>> = isPlainObject(options) ? options : {}
  if (given !== (options as unknown)) faults.add('defineAgent', 'takes one plain object of options')
  else {
    faults.addUnknown(given, KEYS)
    checkAgentFields(given, faults)
    checkProfileFields(given, faults)
  }
  const input = compile('input', given.input, faults)
  const output = compile('output', given.output, faults)
  faults.throwIfAny(`${named('Agent', given.code)} is not acceptable`, {
    reason: 'agent.definition',
  })
  return sealAgent({ ...profileFields(options as AgentOptions), input, output }) as never
}

/** A checked schema ready for use; its faults stand under the name of its option. */
export function compile(name: string, source: unknown, faults: Faults): CompiledSchema | null {
  if (source === undefined || source === null) return null
  const converted = convertSchema(source)
  for (const fault of converted.faults) faults.add(`${name}${fault.path}`, fault.message)
  return converted.faults.length > 0 ? null : validatorOf(source as SchemaSource, converted.jsonSchema)
}

/** The fields of a checked profile agent; lists and objects are frozen copies. */
export function profileFields(
  options: AgentOptions,
): Omit<
  ProfileAgentDefinition,
  'kind' | 'input' | 'output' | '~input' | 'workflowDefinition' | 'orchestrationConfig' | 'maxIterations'
> {
  const { profile } = options
  const named = typeof profile === 'string' ? { code: profile } : profile
  return {
    agentType: 'profile',
    code: options.code,
    description: options.description,
    requiredContext: options.requiredContext ?? [],
    timeoutSeconds: options.timeoutSeconds ?? null,
    maxHistoryMessages: options.maxHistoryMessages ?? null,
    profile: named === undefined ? null : Object.freeze({ code: named.code, version: named.version ?? null }),
    model: options.model ?? null,
    system: options.system ?? null,
    user: options.user ?? null,
    tools: Object.freeze([...(options.tools ?? [])]) as ProfileAgentDefinition['tools'],
    hostedTools: Object.freeze([...(options.hostedTools ?? [])]),
    settings: copyOf({
      ...options.settings,
      ...(options.maxToolCalls === undefined ? {} : { maxToolCalls: options.maxToolCalls }),
    }),
    reasoning: copyOf(options.reasoning ?? null),
    temperature: options.temperature ?? null,
    topP: options.topP ?? null,
    stopSequences: copyOf(options.stopSequences ?? null),
    providerOptions: copyOf(options.providerOptions ?? null),
  }
}

/** A frozen copy of checked JSON data: what its owner changes later does not reach the agent. */
function copyOf<Value>(value: Value): Value {
  return deepFreeze(structuredClone(value))
}
