import type { AssistantPart, JsonObject, ModelRequest, OfferedHostedTool, OfferedTool, UserMessage } from '@sluice/core'
import { NeutralHistory } from './neutral-history.js'
import { compact, DEFAULT_CAP } from './neutral-settings.js'
import type { ReadOptions } from './neutral-request.js'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf, without } from './recorded-json.js'

const READ = ['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']
const READ_CONFIG = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'stopSequences',
  'responseMimeType',
  'responseJsonSchema',
  'responseSchema',
  'thinkingConfig',
]

/**
 * A recorded request of Google's generateContent as a neutral one. The model stands in its address. Calls without an id
 * get one, and results without one go to the calls of the turn before them, in order.
 */
export function fromGoogleRequest(body: Wire, options: ReadOptions): ModelRequest {
  const history = new NeutralHistory()
  for (const part of partsOf(body.systemInstruction)) history.system(textOf(part.text))
  const turns = new Turns(history, options.providerId)
  for (const content of listOf(body.contents)) turns.add(content)
  const config = isWire(body.generationConfig) ? body.generationConfig : {}
  const rest = without(config, READ_CONFIG)
  const raw = { ...without(body, READ), ...(Object.keys(rest).length === 0 ? {} : { generationConfig: rest }) }
  return compact({
    model: modelOf(options.url) ?? textOf(body.model),
    messages: history.messages,
    ...toolsOf(body.tools),
    toolChoice: choiceOf(body.toolConfig),
    output: outputOf(config),
    maxOutputTokens: typeof config.maxOutputTokens === 'number' ? config.maxOutputTokens : DEFAULT_CAP,
    reasoning: reasoningOf(config.thinkingConfig),
    temperature: config.temperature,
    topP: config.topP,
    stopSequences: config.stopSequences,
    providerOptions: Object.keys(compact(raw)).length === 0 ? undefined : compact(raw),
  }) as unknown as ModelRequest
}

function modelOf(url: string | undefined): string | undefined {
  return /\/models\/([^:/?]+):/.exec(url ?? '')?.[1]
}

function partsOf(content: unknown): readonly Wire[] {
  return isWire(content) ? listOf(content.parts) : []
}

/** The tools of all entries: functions are offered, whatever else an entry names runs at the provider. */
function toolsOf(list: unknown): { tools: OfferedTool[]; hostedTools: OfferedHostedTool[] } {
  const tools: OfferedTool[] = []
  const hostedTools: OfferedHostedTool[] = []
  for (const entry of listOf(list)) {
    for (const described of listOf(entry.functionDeclarations)) {
      const schema = described.parametersJsonSchema ?? described.parameters_json_schema ?? described.parameters
      tools.push({
        name: textOf(described.name),
        description: textOf(described.description),
        inputSchema: lowerTypes(isWire(schema) ? schema : { type: 'object', properties: {} }) as JsonObject,
      })
    }
    for (const [code, configuration] of Object.entries(compact(without(entry, ['functionDeclarations'])))) {
      hostedTools.push({ code, configuration: { [code]: configuration } as JsonObject })
    }
  }
  return { tools, hostedTools }
}

/** The older form of a schema names its types in capitals. */
function lowerTypes(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(lowerTypes)
  if (!isWire(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowerTypes(value),
    ]),
  )
}

function choiceOf(config: unknown): unknown {
  const calling = isWire(config) ? config.functionCallingConfig : undefined
  if (!isWire(calling)) return undefined
  const [only] = Array.isArray(calling.allowedFunctionNames) ? calling.allowedFunctionNames : []
  if (only !== undefined) return { tool: textOf(only) }
  return calling.mode === 'ANY' ? 'required' : textOf(calling.mode).toLowerCase()
}

function outputOf(config: Wire): { name: string; schema: unknown } | undefined {
  const schema = config.responseJsonSchema ?? config.responseSchema
  return isWire(schema) ? { name: 'structured_output', schema: lowerTypes(schema) } : undefined
}

function reasoningOf(thinking: unknown): Record<string, unknown> | undefined {
  if (!isWire(thinking)) return undefined
  const budget = thinking.thinkingBudget ?? thinking.thinking_budget
  return compact({
    summary: thinking.includeThoughts === true ? 'auto' : undefined,
    budgetTokens: budget === undefined ? undefined : Number(budget),
    level: typeof thinking.thinkingLevel === 'string' ? thinking.thinkingLevel.toLowerCase() : undefined,
  })
}

/** The contents of a request, in order: what a model said, what was answered to its calls, what a user said. */
class Turns {
  readonly #history: NeutralHistory
  readonly #provider: string
  /** The ids of calls that have no answer yet. */
  #open: string[] = []
  #calls = 0

  constructor(history: NeutralHistory, provider: string) {
    this.#history = history
    this.#provider = provider
  }

  add(content: Wire): void {
    const parts = partsOf(content)
    if (content.role === 'model') {
      this.#open = []
      this.#history.assistant(parts.map((part) => this.#modelPart(part)))
      return
    }
    for (const { functionResponse } of parts) if (isWire(functionResponse)) this.#result(functionResponse)
    const said = parts.filter((part) => part.functionResponse === undefined).map((part) => this.#userPart(part))
    if (said.length > 0) this.#history.user(said)
  }

  #own(options: Wire): { providerOptions: Record<string, JsonObject> } {
    return { providerOptions: { [this.#provider]: options as JsonObject } }
  }

  #result({ id, response }: Wire): void {
    const next = this.#open.shift() ?? ''
    const { error, ...rest } = isWire(response) ? response : {}
    const value = error ?? rest.output ?? rest.result ?? rest.return_value ?? rest
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    this.#history.result(textOf(id) || next, text, error === undefined ? 'ok' : 'error')
  }

  #userPart(part: Wire): UserMessage['content'][number] {
    if (isWire(part.inlineData)) {
      return { type: 'file', mediaType: textOf(part.inlineData.mimeType), data: textOf(part.inlineData.data) }
    }
    if (isWire(part.fileData)) {
      const { mimeType, fileUri } = part.fileData
      return { type: 'file', mediaType: textOf(mimeType), data: '', ...this.#own({ fileUri }) }
    }
    return { type: 'text', text: textOf(part.text) }
  }

  #modelPart(part: Wire): AssistantPart {
    const { thoughtSignature } = part
    const signed = thoughtSignature === undefined ? {} : this.#own({ thoughtSignature })
    if (isWire(part.functionCall)) {
      this.#calls += 1
      const { id, name, args } = part.functionCall
      const toolCallId = textOf(id) || `tool_call_${this.#calls}`
      this.#open.push(toolCallId)
      return { type: 'tool_call', toolCallId, toolName: textOf(name), args: JSON.stringify(args ?? {}), ...signed }
    }
    const text = textOf(part.text)
    if (part.thought === true) {
      return { type: 'reasoning', text, ...this.#own(compact({ thought: true, thoughtSignature })) }
    }
    if (typeof part.text !== 'string') {
      const [member = ''] = Object.keys(part)
      return { type: 'hosted', toolName: member, text: member, ...this.#own({ part }) }
    }
    return text === '' ? { type: 'reasoning', text, ...signed } : { type: 'text', text, ...signed }
  }
}
