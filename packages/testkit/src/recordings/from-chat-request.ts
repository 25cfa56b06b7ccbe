import type { AssistantPart, FilePart, JsonObject, ModelRequest, TextPart } from '@sluice/core'
import { NeutralHistory } from './neutral-history.js'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf, without } from './recorded-json.js'
import type { ReadOptions } from './neutral-request.js'
import { compact, DEFAULT_CAP, dataUrlFile, outputOf, toolsOf } from './neutral-settings.js'

const READ = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'reasoning',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'stream',
  'stream_options',
  'store',
]

/** A recorded request of Chat Completions as a neutral one. */
export function fromChatRequest(body: Wire, options: ReadOptions): ModelRequest {
  const history = new NeutralHistory()
  for (const message of listOf(body.messages)) addMessage(history, message, options.providerId)
  const raw = without(body, READ)
  const format = isWire(body.response_format) ? body.response_format.json_schema : undefined
  const cap = body.max_completion_tokens ?? body.max_tokens
  return compact({
    model: textOf(body.model),
    messages: history.messages,
    ...toolsOf(body.tools, (tool) => (isWire(tool.function) ? tool.function : undefined)),
    toolChoice: choiceOf(body.tool_choice),
    output: outputOf(isWire(format) ? format : undefined),
    maxOutputTokens: typeof cap === 'number' ? cap : DEFAULT_CAP,
    reasoning: reasoningOf(body),
    temperature: body.temperature,
    topP: body.top_p,
    stopSequences: body.stop,
    providerOptions: Object.keys(raw).length === 0 ? undefined : raw,
  }) as unknown as ModelRequest
}

/** OpenRouter takes an object: an effort, or a budget. */
function reasoningOf({ reasoning_effort, reasoning }: Wire): unknown {
  if (reasoning_effort !== undefined) return { level: reasoning_effort }
  return isWire(reasoning) ? compact({ level: reasoning.effort, budgetTokens: reasoning.max_tokens }) : undefined
}

function choiceOf(choice: unknown): unknown {
  return isWire(choice) && isWire(choice.function) ? { tool: textOf(choice.function.name) } : choice
}

function addMessage(history: NeutralHistory, message: Wire, provider: string): void {
  const texts = contentTexts(message.content)
  if (message.role === 'system' || message.role === 'developer') history.system(texts.join('\n'))
  else if (message.role === 'user') history.user(userParts(message.content))
  else if (message.role === 'tool') history.result(textOf(message.tool_call_id), texts.join('\n'))
  else history.assistant(assistantParts(message, provider))
}

function contentTexts(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  return listOf(content).map((piece) => textOf(piece.text))
}

function userParts(content: unknown): Array<TextPart | FilePart> {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content).map((piece) => {
    if (isWire(piece.image_url)) return dataUrlFile(textOf(piece.image_url.url))
    if (isWire(piece.file))
      return { ...dataUrlFile(textOf(piece.file.file_data)), filename: textOf(piece.file.filename) }
    return { type: 'text', text: textOf(piece.text) }
  })
}

function assistantParts(message: Wire, provider: string): AssistantPart[] {
  const parts: AssistantPart[] = []
  const details = listOf(message.reasoning_details)
  for (const member of ['reasoning_content', 'reasoning']) {
    const own = member === 'reasoning' && details.length > 0 ? { member, details } : { member }
    const text =
      textOf(message[member]) || ('details' in own ? details.map((detail) => textOf(detail.text)).join('') : '')
    if (text === '' && !('details' in own)) continue
    parts.push({ type: 'reasoning', text, providerOptions: { [provider]: own as JsonObject } })
  }
  for (const text of contentTexts(message.content)) if (text !== '') parts.push({ type: 'text', text })
  if (textOf(message.refusal) !== '') parts.push({ type: 'refusal', text: textOf(message.refusal) })
  for (const call of listOf(message.tool_calls)) {
    const described = isWire(call.function) ? call.function : {}
    parts.push({
      type: 'tool_call',
      toolCallId: textOf(call.id),
      toolName: textOf(described.name),
      args: textOf(described.arguments),
    })
  }
  return parts
}
