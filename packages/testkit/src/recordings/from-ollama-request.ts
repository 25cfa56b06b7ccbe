import type { AssistantPart, FilePart, JsonObject, ModelRequest, TextPart } from '@sluice/core'
import { CallsInOrder } from './calls-in-order.js'
import { NeutralHistory } from './neutral-history.js'
import { compact, DEFAULT_CAP, toolsOf } from './neutral-settings.js'
import type { ReadOptions } from './neutral-request.js'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf, without } from './recorded-json.js'

const READ = ['model', 'messages', 'tools', 'format', 'options', 'stream']
const READ_OPTIONS = ['num_predict', 'temperature', 'top_p', 'stop']
/** By their first bytes, in base64. */
const IMAGE_TYPES = [
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const

/** A recorded request of Ollama's own chat as a neutral one. Calls without an id get one, results go to them in order. */
export function fromOllamaRequest(body: Wire, { providerId }: ReadOptions): ModelRequest {
  const history = new NeutralHistory()
  const calls = new CallsInOrder()
  for (const message of listOf(body.messages)) addMessage(history, message, calls, providerId)
  const options = isWire(body.options) ? body.options : {}
  const rest = without(options, READ_OPTIONS)
  const raw: Record<string, unknown> = without(body, body.think === true ? [...READ, 'think'] : READ)
  if (Object.keys(rest).length > 0) raw.options = rest
  return compact({
    model: textOf(body.model),
    messages: history.messages,
    ...toolsOf(body.tools, (tool) => (isWire(tool.function) ? tool.function : undefined)),
    output: isWire(body.format) ? { name: 'structured_output', schema: body.format } : undefined,
    maxOutputTokens: typeof options.num_predict === 'number' ? options.num_predict : DEFAULT_CAP,
    // on is all that it says, whatever the level
    reasoning: body.think === true ? { level: 'medium' } : undefined,
    temperature: options.temperature,
    topP: options.top_p,
    stopSequences: options.stop,
    providerOptions: Object.keys(raw).length === 0 ? undefined : raw,
  }) as unknown as ModelRequest
}

function addMessage(history: NeutralHistory, message: Wire, calls: CallsInOrder, provider: string): void {
  const text = textOf(message.content)
  if (message.role === 'system') history.system(text)
  else if (message.role === 'tool') history.result(calls.answered(message.tool_call_id), text)
  else if (message.role === 'assistant') history.assistant(assistantParts(message, calls, provider))
  else history.user(userParts(text, message.images))
}

function userParts(text: string, images: unknown): Array<TextPart | FilePart> {
  const files = (Array.isArray(images) ? images : []).map((data): FilePart => {
    const type = IMAGE_TYPES.find(([start]) => textOf(data).startsWith(start))
    return { type: 'file', mediaType: type?.[1] ?? 'image/png', data: textOf(data) }
  })
  return [{ type: 'text', text }, ...files]
}

function assistantParts(message: Wire, calls: CallsInOrder, provider: string): AssistantPart[] {
  const parts: AssistantPart[] = []
  const own: JsonObject = { member: 'thinking' }
  const thinking = textOf(message.thinking)
  if (thinking !== '') parts.push({ type: 'reasoning', text: thinking, providerOptions: { [provider]: own } })
  const text = textOf(message.content)
  if (text !== '') parts.push({ type: 'text', text })
  for (const call of listOf(message.tool_calls)) {
    const described = isWire(call.function) ? call.function : {}
    parts.push({
      type: 'tool_call',
      toolCallId: calls.called(call.id),
      toolName: textOf(described.name),
      args: JSON.stringify(described.arguments ?? {}),
    })
  }
  return parts
}
