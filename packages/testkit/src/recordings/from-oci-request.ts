import type { AssistantPart, FilePart, JsonObject, ModelRequest, TextPart } from '@sluice/core'
import { CallsInOrder } from './calls-in-order.js'
import { NeutralHistory } from './neutral-history.js'
import type { ReadOptions } from './neutral-request.js'
import { compact, DEFAULT_CAP, dataUrlFile, toolsOf } from './neutral-settings.js'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf, without } from './recorded-json.js'

const SETTINGS = ['apiFormat', 'tools', 'responseFormat', 'maxTokens', 'temperature', 'topP', 'isStream']
const GENERIC = [...SETTINGS, 'messages', 'toolChoice', 'reasoningEffort', 'maxCompletionTokens', 'stop']
const COHERE = [...SETTINGS, 'message', 'chatHistory', 'toolResults', 'preambleOverride', 'stopSequences']

/** A recorded request of OCI's chat as a neutral one; its two forms are told apart by the body itself. */
export function fromOciRequest(body: Wire, options: ReadOptions): ModelRequest {
  const chat = isWire(body.chatRequest) ? body.chatRequest : {}
  const serving = isWire(body.servingMode) ? body.servingMode : {}
  const isCohere = chat.apiFormat === 'COHERE'
  const raw = without(chat, isCohere ? COHERE : GENERIC)
  const cap = chat.maxTokens ?? chat.maxCompletionTokens
  return compact({
    model: textOf(serving.modelId) || textOf(serving.endpointId),
    ...(isCohere ? ofCohere(chat) : ofGeneric(chat, options.providerId)),
    maxOutputTokens: typeof cap === 'number' ? cap : DEFAULT_CAP,
    temperature: chat.temperature,
    topP: chat.topP,
    providerOptions: Object.keys(raw).length === 0 ? undefined : raw,
  }) as unknown as ModelRequest
}

function ofGeneric(chat: Wire, provider: string): Record<string, unknown> {
  const history = new NeutralHistory()
  for (const message of listOf(chat.messages)) addMessage(history, message, provider)
  const format = isWire(chat.responseFormat) ? chat.responseFormat.jsonSchema : undefined
  return {
    messages: history.messages,
    ...toolsOf(chat.tools, (tool) => tool),
    toolChoice: choiceOf(chat.toolChoice),
    output: isWire(format) ? { name: textOf(format.name), schema: format.schema } : undefined,
    reasoning: chat.reasoningEffort === undefined ? undefined : { level: textOf(chat.reasoningEffort).toLowerCase() },
    stopSequences: chat.stop,
  }
}

function choiceOf(choice: unknown): unknown {
  if (!isWire(choice)) return undefined
  return choice.type === 'FUNCTION' ? { tool: textOf(choice.name) } : textOf(choice.type).toLowerCase()
}

function addMessage(history: NeutralHistory, message: Wire, provider: string): void {
  const parts = listOf(message.content).map(contentPart)
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  if (message.role === 'SYSTEM') history.system(text)
  else if (message.role === 'USER') history.user(parts)
  else if (message.role === 'TOOL') history.result(textOf(message.toolCallId), text)
  else history.assistant(assistantParts(message, parts, provider))
}

function contentPart(piece: Wire): TextPart | FilePart {
  const file = isWire(piece.imageUrl) ? piece.imageUrl : isWire(piece.documentUrl) ? piece.documentUrl : undefined
  return file === undefined ? { type: 'text', text: textOf(piece.text) } : dataUrlFile(textOf(file.url))
}

function assistantParts(message: Wire, texts: ReadonlyArray<TextPart | FilePart>, provider: string): AssistantPart[] {
  const own: JsonObject = { member: 'reasoningContent' }
  const thought = textOf(message.reasoningContent)
  return [
    ...(thought === '' ? [] : [{ type: 'reasoning' as const, text: thought, providerOptions: { [provider]: own } }]),
    ...texts,
    ...listOf(message.toolCalls).map((call) => ({
      type: 'tool_call' as const,
      toolCallId: textOf(call.id),
      toolName: textOf(call.name),
      args: textOf(call.arguments),
    })),
  ]
}

/** Calls have no ids there: they get some, and results go to them in order. A question behind results is one said again. */
function ofCohere(chat: Wire): Record<string, unknown> {
  const history = new NeutralHistory()
  const calls = new CallsInOrder()
  if (typeof chat.preambleOverride === 'string') history.system(chat.preambleOverride)
  for (const turn of listOf(chat.chatHistory)) addTurn(history, turn, calls)
  if (Array.isArray(chat.toolResults)) addResults(history, chat.toolResults, calls)
  else history.user([{ type: 'text', text: textOf(chat.message) }])
  const format = isWire(chat.responseFormat) ? chat.responseFormat.schema : undefined
  return {
    messages: history.messages,
    tools: listOf(chat.tools).map((tool) => ({
      name: textOf(tool.name),
      description: textOf(tool.description),
      inputSchema: schemaOf(isWire(tool.parameterDefinitions) ? tool.parameterDefinitions : {}),
    })),
    hostedTools: [],
    output: isWire(format) ? { name: 'structured_output', schema: format } : undefined,
    stopSequences: chat.stopSequences,
  }
}

function addTurn(history: NeutralHistory, turn: Wire, calls: CallsInOrder): void {
  const text = textOf(turn.message)
  if (turn.role === 'SYSTEM') history.system(text)
  else if (turn.role === 'USER') history.user([{ type: 'text', text }])
  else if (turn.role === 'TOOL') addResults(history, turn.toolResults, calls)
  else {
    history.assistant([
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...listOf(turn.toolCalls).map((call) => ({
        type: 'tool_call' as const,
        toolCallId: calls.called(undefined),
        toolName: textOf(call.name),
        args: JSON.stringify(call.parameters ?? {}),
      })),
    ])
  }
}

function addResults(history: NeutralHistory, results: unknown, calls: CallsInOrder): void {
  for (const { outputs } of listOf(results)) {
    const last = listOf(outputs).at(-1) ?? {}
    history.result(calls.answered(undefined), textOf(last.result) || JSON.stringify(last))
  }
}

function schemaOf(parameters: Wire): JsonObject {
  const described = Object.entries(parameters).filter((entry): entry is [string, Wire] => isWire(entry[1]))
  return {
    type: 'object',
    properties: Object.fromEntries(described.map(([name, each]) => [name, without(each, ['isRequired'])])),
    required: described.filter(([, each]) => each.isRequired === true).map(([name]) => name),
  } as JsonObject
}
