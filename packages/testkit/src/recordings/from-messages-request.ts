import type { AssistantPart, FilePart, JsonObject, ModelRequest, TextPart } from '@sluice/core'
import { NeutralHistory } from './neutral-history.js'
import type { Wire } from './recorded-json.js'
import { isWire, listOf, textOf, without } from './recorded-json.js'
import type { ReadOptions } from './neutral-request.js'
import { compact, DEFAULT_CAP, outputOf, toolsOf } from './neutral-settings.js'

const READ = [
  'model',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'output_config',
  'thinking',
  'max_tokens',
  'temperature',
  'top_p',
  'stop_sequences',
  'stream',
]

/** A recorded request of the Messages API as a neutral one. */
export function fromMessagesRequest(body: Wire, options: ReadOptions): ModelRequest {
  const history = new NeutralHistory()
  if (typeof body.system === 'string') history.system(body.system)
  for (const block of listOf(body.system)) history.system(textOf(block.text))
  for (const message of listOf(body.messages)) addMessage(history, message, options.providerId)
  const raw = without(body, READ)
  const format = isWire(body.output_config) ? body.output_config.format : undefined
  const budget = isWire(body.thinking) ? body.thinking.budget_tokens : undefined
  return compact({
    model: textOf(body.model),
    messages: history.messages,
    ...toolsOf(body.tools, (tool) => (isWire(tool.input_schema) ? tool : undefined)),
    toolChoice: choiceOf(body.tool_choice),
    output: outputOf(isWire(format) ? format : undefined),
    maxOutputTokens: typeof body.max_tokens === 'number' ? body.max_tokens : DEFAULT_CAP,
    reasoning: budget === undefined ? undefined : { budgetTokens: budget },
    temperature: body.temperature,
    topP: body.top_p,
    stopSequences: body.stop_sequences,
    providerOptions: Object.keys(raw).length === 0 ? undefined : raw,
  }) as unknown as ModelRequest
}

function choiceOf(choice: unknown): unknown {
  if (!isWire(choice)) return undefined
  if (choice.type === 'tool') return { tool: textOf(choice.name) }
  return choice.type === 'any' ? 'required' : choice.type
}

function addMessage(history: NeutralHistory, message: Wire, provider: string): void {
  const blocks =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : listOf(message.content)
  if (message.role === 'assistant') {
    history.assistant(blocks.map((block) => assistantPart(block, provider)))
    return
  }
  for (const block of blocks.filter((block) => block.type === 'tool_result')) {
    const texts =
      typeof block.content === 'string' ? [block.content] : listOf(block.content).map((piece) => textOf(piece.text))
    history.result(textOf(block.tool_use_id), texts.join('\n'), block.is_error === true ? 'error' : 'ok')
  }
  const content = blocks.filter((block) => block.type !== 'tool_result').map((block) => userPart(block, provider))
  if (content.length > 0) history.user(content)
}

function userPart(block: Wire, provider: string): TextPart | FilePart {
  const own = without(block, ['type', 'text', 'source'])
  const options = Object.keys(own).length === 0 ? {} : { providerOptions: { [provider]: own as JsonObject } }
  if (!isWire(block.source)) return { type: 'text', text: textOf(block.text), ...options }
  const { type, media_type, data } = block.source
  const base64 = type === 'text' ? Buffer.from(textOf(data)).toString('base64') : textOf(data)
  return { type: 'file', mediaType: textOf(media_type), data: base64, ...options }
}

function assistantPart(block: Wire, provider: string): AssistantPart {
  const own = (options: Record<string, unknown>) => ({ providerOptions: { [provider]: options as JsonObject } })
  switch (block.type) {
    case 'text':
      return { type: 'text', text: textOf(block.text) }
    case 'thinking':
      return { type: 'reasoning', text: textOf(block.thinking), ...own({ signature: block.signature }) }
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', ...own({ redacted: block.data }) }
    case 'tool_use':
      return {
        type: 'tool_call',
        toolCallId: textOf(block.id),
        toolName: textOf(block.name),
        args: JSON.stringify(block.input ?? {}),
      }
    default:
      return { type: 'hosted', toolName: textOf(block.name), text: textOf(block.type), ...own({ block }) }
  }
}
