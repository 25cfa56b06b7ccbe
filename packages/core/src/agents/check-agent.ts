import type { Faults } from '../errors/faults.js'
import { DEFAULT_SETTINGS, readSettings } from '../generate/settings.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import { splitModelReference } from '../providers/model-provider.js'
import { isToolDefinition } from '../tools/define-tool.js'
import { isHostedTool } from '../tools/hosted-tool.js'

const CODE = /^[A-Za-z0-9_.-]{1,128}$/
const LEVELS: readonly unknown[] = ['low', 'medium', 'high']
const SUMMARIES: readonly unknown[] = ['auto', 'concise', 'detailed']

type Options = Readonly<Record<string, unknown>>
type Check = (value: unknown) => string | undefined

const wholeNumber =
  (least: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `must be a whole number of at least ${least}`
const finite =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `must be a number from ${least} to ${most}`

/** A code as agents and prompt profiles have it. */
export const checkCode: Check = (value) =>
  typeof value === 'string' && CODE.test(value) ? undefined : 'must be 1 to 128 letters, digits, `_`, `.` and `-`'

const NAMES: Check = (value) =>
  isListOf(value, (item) => typeof item === 'string' && item !== '') ? undefined : 'must be a list of texts'
const JSON_OBJECT: Check = (value) =>
  isPlainObject(value) && isPlainJson(value) ? undefined : 'must be a plain JSON object'

const OPTIONAL: Readonly<Record<string, Check>> = {
  requiredContext: NAMES,
  maxToolCalls: wholeNumber(0),
  maxHistoryMessages: wholeNumber(1),
  maxIterations: wholeNumber(1),
  timeoutSeconds: (value) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= 2_147_483
      ? undefined
      : 'must be a number of seconds above 0 and up to 2147483',
  reasoning: checkReasoning,
  temperature: finite(0, 2),
  topP: finite(0, 1),
  stopSequences: NAMES,
  providerOptions: JSON_OBJECT,
  workflowDefinition: JSON_OBJECT,
  orchestrationConfig: JSON_OBJECT,
}

const OF_A_CALL = ['reasoning', 'temperature', 'topP', 'stopSequences', 'providerOptions']

/** Checks what is handed on to the provider with every request of a call. */
export function checkModelOptions(options: Options, faults: Faults): void {
  for (const key of OF_A_CALL) {
    const value = options[key]
    const fault = value === undefined ? undefined : (OPTIONAL[key] as Check)(value)
    if (fault !== undefined) faults.add(key, fault)
  }
}

/** Checks what agents of every type have: code, description, and the optional numbers and lists. */
export function checkAgentFields(options: Options, faults: Faults): void {
  const code = checkCode(options.code)
  if (code !== undefined) faults.add('code', code)
  if (typeof options.description !== 'string' || options.description.trim() === '')
    faults.add('description', 'must be a text: it tells people and other agents what the agent is for')
  for (const key of Object.keys(OPTIONAL)) {
    const value = options[key]
    if (value === undefined || value === null) continue
    const fault = (OPTIONAL[key] as Check)(value)
    if (fault !== undefined) faults.add(key, fault)
  }
}

/** Checks what a profile agent has of its own: where its prompts are, its tools and its settings. */
export function checkProfileFields(options: Options, faults: Faults): void {
  if (options.profile === undefined || options.profile === null) checkPrompts(options, faults)
  else checkProfile(options, faults)
  checkTools(options, faults)
  const settings = options.settings ?? undefined
  readSettings(DEFAULT_SETTINGS, settings, faults)
  if (options.maxToolCalls !== undefined && isPlainObject(settings) && settings.maxToolCalls !== undefined)
    faults.add('maxToolCalls', 'is given twice; give it here or in settings')
}

function checkPrompts({ model, system, user }: Options, faults: Faults): void {
  if (typeof model !== 'string' || splitModelReference(model) === undefined)
    faults.add('model', "must be a reference like 'openai/gpt-5', or give `profile`")
  if (typeof user !== 'string' || user === '')
    faults.add('user', "must be the text of the user prompt, like '{question}'")
  if (system !== undefined && system !== null && typeof system !== 'string')
    faults.add('system', 'must be the text of the system prompt')
}

function checkProfile(options: Options, faults: Faults): void {
  for (const key of ['model', 'system', 'user']) {
    if (options[key] !== undefined && options[key] !== null)
      faults.add(key, 'comes from the prompt profile; leave it out')
  }
  const { profile } = options
  if (typeof profile === 'string') {
    const fault = checkCode(profile)
    if (fault !== undefined) faults.add('profile', fault)
  } else if (!isPlainObject(profile)) {
    faults.add('profile', 'must be the code of a prompt profile, or { code, version }')
  } else {
    const code = checkCode(profile.code)
    if (code !== undefined) faults.add('profile.code', code)
    const version = profile.version ?? undefined
    if (version !== undefined && wholeNumber(1)(version) !== undefined)
      faults.add('profile.version', 'must be a whole number of at least 1')
  }
}

function checkTools({ tools, hostedTools }: Options, faults: Faults): void {
  const seen = new Set<string>()
  const note = (place: string, code: string) => {
    if (seen.has(code)) faults.add(place, `offers '${code}' a second time`)
    seen.add(code)
  }
  if (tools !== undefined && !Array.isArray(tools)) faults.add('tools', 'must be a list of tools')
  for (const [index, tool] of listOf(tools).entries()) {
    const place = `tools[${index}]`
    if (isToolDefinition(tool)) note(place, tool.code)
    else if (typeof tool === 'string' && checkCode(tool) === undefined) note(place, tool)
    else faults.add(place, 'must be made by defineTool, or be the code of a tool given to createRuntime')
  }
  if (hostedTools !== undefined && !Array.isArray(hostedTools))
    faults.add('hostedTools', 'must be a list of hosted tools')
  for (const [index, tool] of listOf(hostedTools).entries()) {
    if (isHostedTool(tool)) note(`hostedTools[${index}]`, tool.code)
    else faults.add(`hostedTools[${index}]`, 'must be made by hostedTool')
  }
}

function checkReasoning(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'must be an object { level, budgetTokens, summary }'
  for (const key of Object.keys(value)) {
    if (!['level', 'budgetTokens', 'summary'].includes(key)) return `has the unknown key '${key.slice(0, 50)}'`
  }
  const { level, budgetTokens, summary } = value
  if (level !== undefined && !LEVELS.includes(level)) return "has a level that is not 'low', 'medium' or 'high'"
  if (budgetTokens !== undefined && wholeNumber(0)(budgetTokens) !== undefined)
    return 'has budgetTokens that are no whole number of at least 0'
  if (summary !== undefined && !SUMMARIES.includes(summary))
    return "has a summary that is not 'auto', 'concise' or 'detailed'"
  return undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isListOf(value: unknown, fits: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}
