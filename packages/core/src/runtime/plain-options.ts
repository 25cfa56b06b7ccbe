import { checkModelOptions } from '../agents/check-agent.js'
import type { Caller } from '../context/caller.js'
import type { OfferedRunContext } from '../context/run-context.js'
import { Faults } from '../errors/faults.js'
import { DEFAULT_SETTINGS, readLimits, readSettings } from '../generate/settings.js'
import type { Limits, LoopSettings } from '../generate/settings.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import type { JsonObject } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import type { Message } from '../messages/message.js'
import type { ModelRequest, ReasoningSettings } from '../providers/model-provider.js'
import { compileValidator } from '../tools/compile-validator.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import { isToolDefinition } from '../tools/define-tool.js'
import type { HostedToolDefinition } from '../tools/hosted-tool.js'
import { isHostedTool } from '../tools/hosted-tool.js'
import type { SchemaSource } from '../tools/schema.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { readMessages } from './read-messages.js'
import { readUntrusted } from './untrusted-input.js'
import type { OfferedInput } from './untrusted-input.js'

interface PlainCommon<Schema extends SchemaSource | undefined> {
  /** Offered tools. */
  readonly tools?: readonly (ToolDefinition<never> | ToolDefinition)[]
  readonly hostedTools?: readonly HostedToolDefinition[]
  readonly toolChoice?: ModelRequest['toolChoice']
  /** Schema of the answer: the result's `output` is validated and typed by it. */
  readonly output?: Schema
  /** Tool calls with a result. */
  readonly maxToolCalls?: number
  readonly maxOutputTokens?: number
  /** Settings of the loop, over those of the runtime. */
  readonly settings?: Partial<LoopSettings>
  readonly reasoning?: ReasoningSettings
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  readonly providerOptions?: JsonObject
  /** Overrides of this call alone: key, base URL, headers. Never stored. */
  readonly connection?: ModelRequest['connection']
  /** Visible to tools and hooks; inside a run it can only add keys. */
  readonly runContext?: OfferedRunContext
  /** Outside a run: who makes the call. */
  readonly caller?: Caller
  readonly resources?: unknown
  readonly signal?: AbortSignal
  /** Outside a run: lowers the runtime's limits. */
  readonly limits?: Partial<Limits>
}

/** Options of `generateText`: prompts, or a conversation as it stands. */
export type GenerateOptions<Schema extends SchemaSource | undefined = undefined> = PlainCommon<Schema> & {
  /** `provider/model`. */
  readonly model: string
} & (
    | { readonly system?: string; readonly prompt: string; readonly messages?: undefined }
    | { readonly messages: readonly LooseMessage[]; readonly system?: undefined; readonly prompt?: undefined }
  )

/** A message as a caller may write it: a string stands for one text item (G-19). */
export type LooseMessage = Message | { readonly role: 'user' | 'assistant'; readonly content: string }

/** Options of `executeProfile`. */
export interface ExecuteProfileOptions<Schema extends SchemaSource | undefined = undefined>
  extends PlainCommon<Schema> {
  /** Code of a stored prompt profile. */
  readonly profile: string
  readonly version?: number
  /** Values for the placeholders. A text that did not come from the caller is given as `untrusted(text, source)`. */
  readonly parameters?: OfferedInput<JsonObject>
  /** Overrides of the profile (P-17). */
  readonly provider?: string
  readonly model?: string
  readonly config?: JsonObject
  readonly configMode?: 'merge' | 'replace'
}

/** Options of a plain call whose shape has been checked. */
export interface PlainCall {
  readonly tools: readonly ToolDefinition[]
  readonly hostedTools: readonly HostedToolDefinition[]
  readonly toolChoice: ModelRequest['toolChoice']
  readonly output: CompiledSchema | null
  readonly settings: Partial<LoopSettings>
  readonly reasoning: ReasoningSettings | undefined
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly stopSequences: readonly string[] | undefined
  readonly providerOptions: JsonObject | undefined
  readonly connection: ModelRequest['connection']
  readonly runContext: OfferedRunContext | undefined
  readonly caller: Caller | undefined
  readonly resources: unknown
  readonly signal: AbortSignal | undefined
  readonly limits: unknown
  /** Of what was `untrusted` in the parameters. */
  readonly inputLabels?: readonly Label[]
}

const COMMON: readonly string[] = [
  'tools',
  'hostedTools',
  'toolChoice',
  'output',
  'maxToolCalls',
  'maxOutputTokens',
  'settings',
  'reasoning',
  'temperature',
  'topP',
  'stopSequences',
  'providerOptions',
  'connection',
  'runContext',
  'caller',
  'resources',
  'signal',
  'limits',
]
const GENERATE: readonly string[] = ['model', 'system', 'prompt', 'messages', ...COMMON]
const PROFILE: readonly string[] = [
  'profile',
  'version',
  'parameters',
  'provider',
  'model',
  'config',
  'configMode',
  ...COMMON,
]

/** @throws INVALID_CONFIG (`reason` `generate.options`) with all faults at once */
export function checkGenerateOptions(
  options: unknown,
): PlainCall & { readonly model: string; readonly messages: readonly Message[] } {
  const faults = new Faults()
  const given = recordOf(options, 'generateText', GENERATE, faults)
  if (typeof given.model !== 'string' || given.model === '')
    faults.add('model', 'must be a model reference like "openai/gpt-5"')
  const messages = messagesOf(given, faults)
  const call = commonOf(given, faults)
  faults.throwIfAny('The options of generateText are not acceptable', { reason: 'generate.options' })
  return { ...call, model: given.model as string, messages }
}

/** @throws INVALID_CONFIG (`reason` `generate.options`) with all faults at once */
export function checkProfileOptions(
  options: unknown,
): PlainCall & { readonly parameters: JsonObject | undefined } & Pick<
    ExecuteProfileOptions,
    'profile' | 'version' | 'provider' | 'model' | 'config' | 'configMode'
  > {
  const faults = new Faults()
  const given = recordOf(options, 'executeProfile', PROFILE, faults)
  if (typeof given.profile !== 'string' || given.profile === '')
    faults.add('profile', 'must be the code of a prompt profile')
  if (given.version !== undefined && !(Number.isSafeInteger(given.version) && (given.version as number) > 0))
    faults.add('version', 'must be a whole number above 0')
  for (const key of ['provider', 'model'] as const)
    if (given[key] !== undefined && (typeof given[key] !== 'string' || given[key] === ''))
      faults.add(key, 'must be a text that is not empty')
  for (const key of ['parameters', 'config'] as const)
    if (given[key] !== undefined && !(isPlainObject(given[key]) && isPlainJson(given[key])))
      faults.add(key, 'must be a plain object of JSON data')
  if (given.configMode !== undefined && given.configMode !== 'merge' && given.configMode !== 'replace')
    faults.add('configMode', "must be 'merge' or 'replace'")
  const call = commonOf(given, faults)
  faults.throwIfAny('The options of executeProfile are not acceptable', { reason: 'generate.options' })
  const read = given.parameters === undefined ? undefined : readUntrusted(given.parameters as JsonObject)
  return {
    ...(given as unknown as ExecuteProfileOptions),
    ...call,
    parameters: read?.input,
    ...(read === undefined ? {} : { inputLabels: read.labels }),
  }
}

function recordOf(
  options: unknown,
  name: string,
  known: readonly string[],
  faults: Faults,
): Readonly<Record<string, unknown>> {
  if (!isPlainObject(options)) {
    faults.add(name, 'takes one plain object of options')
    return {}
  }
  for (const key of Object.keys(options))
    if (!known.includes(key)) faults.add(key, `is not known; known are ${known.join(', ')}`)
  return options
}

function messagesOf(given: Readonly<Record<string, unknown>>, faults: Faults): readonly Message[] {
  const { system, prompt, messages } = given
  if (messages !== undefined) {
    if (prompt !== undefined || system !== undefined) faults.add('messages', 'stand alone: leave out prompt and system')
    return readMessages(messages, faults)
  }
  if (system !== undefined && typeof system !== 'string') faults.add('system', 'must be a text')
  if (typeof prompt !== 'string') {
    faults.add('prompt', 'must be a text; or give messages')
    return []
  }
  const user: Message = { role: 'user', content: [{ type: 'text', text: prompt }] }
  return typeof system === 'string' ? [{ role: 'system', content: system }, user] : [user]
}

function isToolChoice(value: unknown): boolean {
  if (value === 'auto' || value === 'required' || value === 'none') return true
  return isPlainObject(value) && typeof value.tool === 'string' && Object.keys(value).length === 1
}

function isConnection(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const { apiKey = '', baseUrl = '', headers = {}, ...rest } = value
  return (
    typeof apiKey === 'string' &&
    typeof baseUrl === 'string' &&
    isPlainObject(headers) &&
    Object.values(headers).every((header) => typeof header === 'string') &&
    Object.keys(rest).length === 0
  )
}

function commonOf(given: Readonly<Record<string, unknown>>, faults: Faults): PlainCall {
  const { tools = [], hostedTools = [], signal, maxToolCalls, maxOutputTokens } = given
  if (!Array.isArray(tools) || !tools.every(isToolDefinition))
    faults.add('tools', 'must be a list of tools made with defineTool')
  if (!Array.isArray(hostedTools) || !hostedTools.every(isHostedTool))
    faults.add('hostedTools', 'must be a list of tools made with hostedTool')
  if (signal !== undefined && !(signal instanceof AbortSignal)) faults.add('signal', 'must be an AbortSignal')
  let output: CompiledSchema | null = null
  if (given.output !== undefined) {
    try {
      output = compileValidator(given.output as SchemaSource)
    } catch (error) {
      faults.add('output', error instanceof Error ? error.message : 'is no schema')
    }
  }
  const settings = {
    ...(isPlainObject(given.settings) ? given.settings : {}),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  } as Partial<LoopSettings>
  if (given.settings !== undefined && !isPlainObject(given.settings)) faults.add('settings', 'must be a plain object')
  readSettings(DEFAULT_SETTINGS, settings, faults)
  readLimits(given.limits, faults)
  checkModelOptions(given, faults)
  if (given.toolChoice !== undefined && !isToolChoice(given.toolChoice))
    faults.add('toolChoice', "must be 'auto', 'required', 'none' or { tool: 'code' }")
  if (given.connection !== undefined && !isConnection(given.connection))
    faults.add('connection', 'must be { apiKey, baseUrl, headers }: texts, and an object of texts')
  return {
    ...(given as unknown as PlainCall),
    tools: tools as readonly ToolDefinition[],
    hostedTools: hostedTools as readonly HostedToolDefinition[],
    output,
    settings,
  }
}
