import type { AssistantPart, FilePart, JsonObject, ModelRequest, TextPart } from '@sluice/core'
import { NeutralHistory } from './neutral-history.js'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf, without } from './recorded-json.js'
import type { ReadOptions } from './neutral-request.js'
import { compact, DEFAULT_CAP, dataUrlFile, outputOf, toolsOf } from './neutral-settings.js'

/** Members that are read, or that say how the state is kept: the rest goes along as raw options. */
const READ = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'text',
  'reasoning',
  'include',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'store',
  'previous_response_id',
]

/** A recorded request of the Responses API as a neutral one. */
export function fromResponsesRequest(body: Wire, options: ReadOptions): ModelRequest {
  const history = new NeutralHistory()
  if (typeof body.instructions === 'string') history.system(body.instructions)
  if (typeof body.input === 'string') history.user([{ type: 'text', text: body.input }])
  for (const item of listOf(body.input)) addItem(history, item, options.providerId)
  const text = isWire(body.text) ? body.text : {}
  const rawText = without(text, ['format'])
  const raw = { ...without(body, READ), ...(Object.keys(rawText).length === 0 ? {} : { text: rawText }) }
  const reasoning = isWire(body.reasoning) ? body.reasoning : undefined
  return compact({
    model: textOf(body.model),
    messages: history.messages,
    ...toolsOf(body.tools, (tool) => (tool.type === 'function' ? tool : undefined)),
    toolChoice: choiceOf(body.tool_choice),
    output: outputOf(isWire(text.format) && text.format.type === 'json_schema' ? text.format : undefined),
    maxOutputTokens: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : DEFAULT_CAP,
    reasoning: reasoning === undefined ? undefined : compact({ level: reasoning.effort, summary: reasoning.summary }),
    temperature: body.temperature,
    topP: body.top_p,
    providerOptions: Object.keys(raw).length === 0 ? undefined : raw,
  }) as unknown as ModelRequest
}

function choiceOf(choice: unknown): unknown {
  return isWire(choice) && typeof choice.name === 'string' ? { tool: choice.name } : choice
}

function addItem(history: NeutralHistory, item: Wire, provider: string): void {
  if (item.role === 'system' || item.role === 'developer') history.system(contentTexts(item.content).join('\n'))
  else if (item.role === 'user') history.user(userParts(item.content, provider))
  else if (item.role === 'assistant') history.assistant(messageParts(item, provider))
  else if (item.type === 'function_call_output') history.result(textOf(item.call_id), textOf(item.output))
  else history.assistant([assistantPart(item, provider)])
}

function contentTexts(content: unknown): readonly string[] {
  return typeof content === 'string' ? [content] : listOf(content).map((piece) => textOf(piece.text))
}

function userParts(content: unknown, provider: string): Array<TextPart | FilePart> {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content).map((piece) => {
    if (piece.type === 'input_image') return dataUrlFile(textOf(piece.image_url))
    if (piece.type === 'input_file')
      return { ...dataUrlFile(textOf(piece.file_data)), filename: textOf(piece.filename) }
    const own = without(piece, ['type', 'text'])
    const part = { type: 'text' as const, text: textOf(piece.text) }
    return Object.keys(own).length === 0 ? part : { ...part, providerOptions: { [provider]: own as JsonObject } }
  })
}

function messageParts(item: Wire, provider: string): AssistantPart[] {
  const own = compact({ itemId: item.id, phase: item.phase }) as JsonObject
  const options = Object.keys(own).length === 0 ? {} : { providerOptions: { [provider]: own } }
  if (typeof item.content === 'string') {
    return item.content === '' ? [] : [{ type: 'text', text: item.content, ...options }]
  }
  return listOf(item.content).map(
    (piece): AssistantPart =>
      piece.type === 'refusal'
        ? { type: 'refusal', text: textOf(piece.refusal), ...options }
        : { type: 'text', text: textOf(piece.text), ...options },
  )
}

function assistantPart(item: Wire, provider: string): AssistantPart {
  if (item.type === 'reasoning') {
    const text = listOf(item.summary)
      .map((piece) => textOf(piece.text))
      .join('\n\n')
    return {
      type: 'reasoning',
      text,
      providerOptions: { [provider]: { reasoning: without(item, ['type']) as JsonObject } },
    }
  }
  if (item.type === 'function_call') {
    const call = {
      type: 'tool_call' as const,
      toolCallId: textOf(item.call_id),
      toolName: textOf(item.name),
      args: textOf(item.arguments),
    }
    return typeof item.id === 'string' ? { ...call, providerOptions: { [provider]: { itemId: item.id } } } : call
  }
  return {
    type: 'hosted',
    toolName: textOf(item.type),
    text: textOf(item.type),
    providerOptions: { [provider]: { item: item as JsonObject } },
  }
}
