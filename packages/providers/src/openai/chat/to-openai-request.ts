import type { AssistantMessage, FilePart, ModelRequest, TextPart, UserMessage } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { OpenAIServer } from '../../behaviour/openai-servers.js'
import { dataUrl, fileKind, unsupportedContent } from '../../shared/file-content.js'
import { copyOptions, ownOptions } from '../../shared/part-options.js'
import type { RawOptionRules } from '../../shared/raw-options.js'
import { mergeRawOptions } from '../../shared/raw-options.js'
import { wireCallId } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { wireList, wireName } from '../../shared/wire-json.js'
import { wireToolName } from '../../shared/wire-tool-name.js'
import type { OpenAISchemas } from '../openai-tools.js'
import { hasTools } from '../openai-tools.js'

const PROTOCOL = 'openai-chat'
const PART_OPTIONS = ['prompt_cache_breakpoint', 'cache_control']

const RULES: RawOptionRules = {
  protocol: PROTOCOL,
  hosted: new Set(['tools', 'functions', 'web_search_options', 'search_parameters', 'plugins']),
  owned: {
    model: { instead: 'Use `model`.' },
    messages: { instead: 'Use `messages`.' },
    max_tokens: { instead: 'Use `maxOutputTokens`.' },
    max_completion_tokens: { instead: 'Use `maxOutputTokens`.' },
    stream: { instead: 'Use `stream`.', allowed: false },
    store: { instead: 'State at the provider is off; the history goes with every request.', allowed: false },
    n: { instead: 'One reply is asked for; the output cap holds for it alone.', allowed: 1 },
    // OpenRouter would let another model answer, which no gate has seen
    models: { instead: 'Use `settings.fallback`: each model passes the gates.' },
    route: { instead: 'Use `settings.fallback`: each model passes the gates.' },
  },
}

export interface ChatContext {
  readonly providerId: string
  readonly server: OpenAIServer
  readonly schemas: OpenAISchemas
}

/** The body of `POST /chat/completions`. */
export function toOpenAIRequest(request: ModelRequest, context: ChatContext): Wire {
  const { server, schemas } = context
  refuseSearchByName(request, server)
  const body: Wire = { model: request.model, messages: messages(request, context) }
  if (hasTools(request)) body.tools = toolList(request, schemas)
  if (request.toolChoice !== undefined && hasTools(request)) body.tool_choice = toolChoice(request.toolChoice)
  if (request.output !== undefined) {
    body.response_format = { type: 'json_schema', json_schema: schemas.output(request.output) }
  }
  if (request.reasoning !== undefined) addReasoning(body, request.reasoning, server)
  body[server.outputCap] = request.maxOutputTokens
  if (request.temperature !== undefined) body.temperature = request.temperature
  if (request.topP !== undefined) body.top_p = request.topP
  if (request.stopSequences !== undefined && request.stopSequences.length > 0) body.stop = request.stopSequences
  if (server.saysStore) body.store = false
  return mergeRawOptions(body, request, RULES)
}

/** A suffix of OpenRouter's models adds a search that runs at the server. */
function refuseSearchByName({ model }: ModelRequest, server: OpenAIServer): void {
  if (server.id !== 'openrouter' || !/:online$/i.test(model)) return
  throw new SluiceError(
    'HOSTED_TOOL_UNDECLARED',
    `The model "${model}" would search the web, which no gate has seen.`,
    {
      hint: 'Leave ":online" out, and declare the search with hostedTool().',
      details: { protocol: PROTOCOL, model },
    },
  )
}

/** A budget is asked for where the server takes one, and then instead of the level (G-49, G-50). */
function addReasoning(
  body: Wire,
  { level, budgetTokens }: NonNullable<ModelRequest['reasoning']>,
  server: OpenAIServer,
): void {
  const effort = level === 'medium' ? (server.levels.medium ?? level) : level
  if (server.reasoning === 'reasoning_effort') {
    if (effort !== undefined) body.reasoning_effort = effort
  } else if (budgetTokens !== undefined) body.reasoning = { max_tokens: budgetTokens }
  else if (effort !== undefined) body.reasoning = { effort }
}

function toolList(request: ModelRequest, schemas: OpenAISchemas): readonly unknown[] {
  const functions = request.tools.map((tool): unknown => ({ type: 'function', function: schemas.tool(tool) }))
  return request.hostedTools.length === 0
    ? functions
    : [...functions, ...request.hostedTools.map((tool) => tool.configuration)]
}

function toolChoice(choice: NonNullable<ModelRequest['toolChoice']>): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } }
}

function messages(request: ModelRequest, context: ChatContext): readonly Wire[] {
  const list: Wire[] = []
  for (const message of request.messages) {
    if (message.role === 'user') list.push({ role: 'user', content: userContent(message, context.providerId) })
    else if (message.role === 'system') list.push({ role: 'system', content: message.content })
    else if (message.role === 'tool') {
      for (const { toolCallId, result } of message.content) {
        list.push({ role: 'tool', tool_call_id: callId(toolCallId, context), content: result })
      }
    } else {
      const assistant = assistantMessage(message, context)
      if (assistant !== undefined) list.push(assistant)
    }
  }
  return list
}

/** OpenAI takes shorter ids than servers that give long ones of their own, and take those back. */
function callId(id: string, { server }: ChatContext): string {
  return wireCallId(id, server.longestCallId)
}

/** One text is sent as a string, which every server takes. */
function userContent(message: UserMessage, providerId: string): unknown {
  const only = message.content.length === 1 ? message.content[0] : undefined
  if (only?.type === 'text' && only.providerOptions === undefined) return only.text
  return message.content.map((part) => userPart(part, providerId))
}

function userPart(part: TextPart | FilePart, providerId: string): Wire {
  const wire: Wire = part.type === 'text' ? { type: 'text', text: part.text } : filePart(part)
  const options = ownOptions(part.providerOptions, providerId)
  if (options !== undefined) copyOptions(wire, options, PART_OPTIONS)
  return wire
}

function filePart(part: FilePart): Wire {
  if (fileKind(part, PROTOCOL) === 'image') return { type: 'image_url', image_url: { url: dataUrl(part) } }
  return { type: 'file', file: { filename: part.filename ?? 'document.pdf', file_data: dataUrl(part) } }
}

/** One message of the model; `undefined` where nothing of it can be sent here. */
function assistantMessage(message: AssistantMessage, context: ChatContext): Wire | undefined {
  const texts: string[] = []
  const refusals: string[] = []
  const calls: Wire[] = []
  const reasoning: Wire = {}
  for (const part of message.content) {
    if (part.type === 'text') texts.push(part.text)
    else if (part.type === 'refusal') refusals.push(part.text)
    else if (part.type === 'reasoning') takeBack(reasoning, part, context.providerId)
    else if (part.type === 'tool_call') {
      calls.push({
        id: callId(part.toolCallId, context),
        type: 'function',
        function: { name: wireToolName(part.toolName), arguments: part.args === '' ? '{}' : part.args },
      })
    } else if (part.type === 'file') throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
  }
  const text = texts.filter((piece) => piece !== '').join('\n')
  if (text === '' && refusals.length === 0 && calls.length === 0) return undefined
  return {
    role: 'assistant',
    content: assistantContent(text, refusals),
    ...reasoning,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function assistantContent(text: string, refusals: readonly string[]): unknown {
  if (refusals.length === 0) return text === '' ? null : text
  const parts = refusals.map((refusal): Wire => ({ type: 'refusal', refusal }))
  return text === '' ? parts : [{ type: 'text', text }, ...parts]
}

/**
 * Reasoning goes back in the member in which this provider gave it: `reasoning_details` with their signatures where there are
 * any (OpenRouter), else the text (DeepSeek, xAI and others); OpenAI gives none.
 */
function takeBack(
  wire: Wire,
  part: { text: string; providerOptions?: AssistantPartOptions },
  providerId: string,
): void {
  const own = ownOptions(part.providerOptions, providerId)
  const member = wireName(own?.member)
  if (own === undefined || member === undefined) return
  if (own.details !== undefined) {
    wire.reasoning_details = [...wireList(wire.reasoning_details), ...wireList(own.details)]
  } else wire[member] = typeof wire[member] === 'string' ? `${wire[member]}\n\n${part.text}` : part.text
}

type AssistantPartOptions = TextPart['providerOptions']
