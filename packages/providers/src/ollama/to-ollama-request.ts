import type { AssistantMessage, Message, ModelRequest, ToolMessage, UserMessage } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { OLLAMA_CHAT } from '../behaviour/ollama-behaviour.js'
import { fileKind, unsupportedContent } from '../shared/file-content.js'
import { ownOptions } from '../shared/part-options.js'
import type { RawOptionRules } from '../shared/raw-options.js'
import { mergeRawOptions } from '../shared/raw-options.js'
import { wireCallId } from '../shared/tool-call-ids.js'
import { toolInput } from '../shared/tool-input.js'
import type { Wire } from '../shared/wire-json.js'
import { wireToolName } from '../shared/wire-tool-name.js'
import type { OllamaSchemas } from './ollama-schemas.js'

const PROTOCOL = 'ollama-chat'
const LONGEST_CALL_ID = OLLAMA_CHAT.callIds.longest

const RULES: RawOptionRules = {
  protocol: PROTOCOL,
  hosted: new Set(['tools']),
  owned: {
    model: { instead: 'Use `model`.' },
    messages: { instead: 'Use `messages`.' },
    stream: { instead: 'Use `stream`.', allowed: false },
    'options.num_predict': { instead: 'Use `maxOutputTokens`.' },
  },
}

export interface OllamaContext {
  readonly providerId: string
  readonly schemas: OllamaSchemas
}

/** The body of `POST /api/chat`; whether it is a stream is said by its last member. */
export function toOllamaRequest(request: ModelRequest, context: OllamaContext): Wire {
  refuseWhatThereIsNot(request)
  const { schemas } = context
  const body: Wire = { model: request.model, messages: messages(request.messages, context) }
  // the protocol has no choice: `none` is told by offering nothing
  if (request.tools.length > 0 && request.toolChoice !== 'none') body.tools = request.tools.map(schemas.tool)
  if (request.output !== undefined) body.format = schemas.output(request.output.schema)
  // on or off is all that most models take (G-50)
  if (asksForReasoning(request)) body.think = true
  body.options = {
    num_predict: request.maxOutputTokens,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.topP === undefined ? {} : { top_p: request.topP }),
    ...(request.stopSequences === undefined || request.stopSequences.length === 0
      ? {}
      : { stop: request.stopSequences }),
  }
  const { stream: _stream, ...merged } = mergeRawOptions(body, request, RULES)
  return { ...merged, stream: false }
}

function asksForReasoning({ reasoning }: ModelRequest): boolean {
  return reasoning !== undefined && (reasoning.level !== undefined || reasoning.budgetTokens !== undefined)
}

function refuseWhatThereIsNot({ toolChoice, hostedTools }: ModelRequest): void {
  if (toolChoice === 'required' || typeof toolChoice === 'object') {
    throw new SluiceError('INVALID_CONFIG', `The protocol ${PROTOCOL} cannot make the model call a tool.`, {
      hint: "Leave `toolChoice` out, or use 'auto' or 'none'.",
      reason: 'tool_choice.unsupported',
    })
  }
  if (hostedTools.length > 0) {
    throw new SluiceError('INVALID_CONFIG', `The protocol ${PROTOCOL} has no tools that run at the provider.`, {
      hint: 'Leave `hostedTools` out, or give a tool with a handler.',
      reason: 'hosted_tools.unsupported',
    })
  }
}

function messages(history: readonly Message[], context: OllamaContext): readonly Wire[] {
  const list: Wire[] = []
  let calls: readonly string[] = []
  for (const message of history) {
    if (message.role === 'system') list.push({ role: 'system', content: message.content })
    else if (message.role === 'user') list.push(userMessage(message))
    else if (message.role === 'tool') list.push(...toolMessages(message, calls))
    else {
      calls = message.content.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : []))
      const assistant = assistantMessage(message, context)
      if (assistant !== undefined) list.push(assistant)
    }
  }
  return list
}

function userMessage(message: UserMessage): Wire {
  const texts: string[] = []
  const images: string[] = []
  for (const part of message.content) {
    if (part.type === 'text') texts.push(part.text)
    else if (fileKind(part, PROTOCOL) === 'image') images.push(part.data)
  }
  return { role: 'user', content: texts.join('\n'), ...(images.length === 0 ? {} : { images }) }
}

/** Older servers pair results with calls by their order, newer ones by the id: both are told. */
function toolMessages({ content }: ToolMessage, calls: readonly string[]): readonly Wire[] {
  const inOrder = [...content].sort((left, right) => calls.indexOf(left.toolCallId) - calls.indexOf(right.toolCallId))
  return inOrder.map(({ toolCallId, toolName, result }) => ({
    role: 'tool',
    content: result,
    tool_name: wireToolName(toolName),
    tool_call_id: wireCallId(toolCallId, LONGEST_CALL_ID),
  }))
}

/** One message of the model; `undefined` where nothing of it can be sent here. */
function assistantMessage(message: AssistantMessage, context: OllamaContext): Wire | undefined {
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: Wire[] = []
  for (const part of message.content) {
    if (part.type === 'text' || part.type === 'refusal') texts.push(part.text)
    else if (part.type === 'reasoning') {
      if (ownOptions(part.providerOptions, context.providerId)?.member === 'thinking') thoughts.push(part.text)
    } else if (part.type === 'tool_call') {
      calls.push({
        id: wireCallId(part.toolCallId, LONGEST_CALL_ID),
        type: 'function',
        function: { name: wireToolName(part.toolName), arguments: toolInput(part.args) },
      })
    } else if (part.type === 'file') throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
  }
  const text = texts.filter((piece) => piece !== '').join('\n')
  if (text === '' && calls.length === 0) return undefined
  return {
    role: 'assistant',
    content: text,
    ...(thoughts.length === 0 ? {} : { thinking: thoughts.join('\n\n') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}
