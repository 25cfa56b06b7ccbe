import type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  JsonObject,
  ModelRequest,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/core'
import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import { fileKind, unsupportedContent } from '../shared/file-content.js'
import { copyOptions, ownOptions } from '../shared/part-options.js'
import type { RawOptionRules } from '../shared/raw-options.js'
import { mergeRawOptions } from '../shared/raw-options.js'
import { wireCallId } from '../shared/tool-call-ids.js'
import { toolInput } from '../shared/tool-input.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire } from '../shared/wire-json.js'
import { wireToolName } from '../shared/wire-tool-name.js'
import type { AnthropicThinking } from './anthropic-thinking.js'
import { addThinking } from './anthropic-thinking.js'
import type { AnthropicSchemas } from './anthropic-tools.js'

const PROTOCOL = 'anthropic-messages'
const LONGEST_CALL_ID = ANTHROPIC_MESSAGES.callIds.longest
const TEXT_OPTIONS = ['cache_control']
const FILE_OPTIONS = ['cache_control', 'citations', 'title', 'context']

const RULES: RawOptionRules = {
  protocol: PROTOCOL,
  hosted: new Set(['tools', 'mcp_servers', 'container']),
  owned: {
    model: { instead: 'Use `model`.' },
    messages: { instead: 'Use `messages`.' },
    system: { instead: 'Use a system message.' },
    max_tokens: { instead: 'Use `maxOutputTokens`.' },
    stream: { instead: 'Use `stream`.', allowed: false },
  },
}

export interface AnthropicContext {
  readonly providerId: string
  readonly thinking: AnthropicThinking
  readonly schemas: AnthropicSchemas
}

/** The body of `POST /v1/messages`. */
export function toAnthropicRequest(request: ModelRequest, context: AnthropicContext): Wire {
  const { schemas } = context
  const history = new History(context.providerId)
  for (const message of request.messages) history.add(message)
  const body: Wire = { model: request.model, max_tokens: request.maxOutputTokens }
  if (history.system.length > 0) body.system = systemPrompt(history.system)
  body.messages = history.messages
  const tools = [
    ...request.tools.map((tool) => schemas.tool(tool)),
    ...request.hostedTools.map((tool) => tool.configuration),
  ]
  if (tools.length > 0) body.tools = tools
  if (tools.length > 0 && request.toolChoice !== undefined) body.tool_choice = toolChoice(request.toolChoice)
  if (request.output !== undefined) body.output_config = schemas.output(request.output)
  addThinking(body, request, context.thinking)
  if (request.temperature !== undefined) body.temperature = request.temperature
  if (request.topP !== undefined) body.top_p = request.topP
  if (request.stopSequences !== undefined && request.stopSequences.length > 0)
    body.stop_sequences = request.stopSequences
  return mergeRawOptions(body, request, RULES)
}

function systemPrompt(texts: readonly string[]): unknown {
  return texts.length === 1 ? texts[0] : texts.map((text) => ({ type: 'text', text }))
}

function toolChoice(choice: NonNullable<ModelRequest['toolChoice']>): Wire {
  if (typeof choice !== 'string') return { type: 'tool', name: choice.tool }
  return { type: choice === 'required' ? 'any' : choice }
}

/**
 * The history as the protocol wants it: system text apart (all of it, wherever it stood: older models take none between
 * the turns), turns of one side joined, the results of a round first in the turn that follows it.
 */
class History {
  readonly messages: Array<{ role: 'user' | 'assistant'; content: Wire[] }> = []
  readonly system: string[] = []
  readonly #provider: string

  constructor(provider: string) {
    this.#provider = provider
  }

  add(message: ModelRequest['messages'][number]): void {
    switch (message.role) {
      case 'system':
        if (message.content !== '') this.system.push(message.content)
        return
      case 'user':
        this.#turn(
          'user',
          message.content.map((part) => this.#userBlock(part)),
        )
        return
      case 'tool':
        this.#turn(
          'user',
          message.content.map((part) => this.#resultBlock(part)),
        )
        return
      case 'assistant':
        this.#turn('assistant', this.#assistantBlocks(message))
    }
  }

  #turn(role: 'user' | 'assistant', blocks: ReadonlyArray<Wire | undefined>): void {
    const content = blocks.filter((block) => block !== undefined)
    if (content.length === 0) return
    const last = this.messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else this.messages.push({ role, content })
  }

  #userBlock(part: TextPart | FilePart): Wire | undefined {
    // a text without a visible character is refused
    if (part.type === 'text' && !/\S/.test(part.text)) return undefined
    const own = ownOptions(part.providerOptions, this.#provider)
    const block: Wire = part.type === 'text' ? { type: 'text', text: part.text } : fileBlock(part)
    if (own !== undefined) copyOptions(block, own, part.type === 'text' ? TEXT_OPTIONS : FILE_OPTIONS)
    return block
  }

  /**
   * `is_error` is set for every result but `ok` and `refused`: a refusal is an answer of the application (G-40), the
   * others tell the model that its call did not do what it asked for.
   */
  #resultBlock(part: ToolResultPart): Wire {
    const failed = part.status !== 'ok' && part.status !== 'refused'
    const block: Wire = { type: 'tool_result', tool_use_id: wireCallId(part.toolCallId, LONGEST_CALL_ID) }
    // an error without content is refused
    if (part.result !== '' || failed) block.content = part.result === '' ? 'The tool failed.' : part.result
    if (failed) block.is_error = true
    const own = ownOptions(part.providerOptions, this.#provider)
    if (own !== undefined) copyOptions(block, own, TEXT_OPTIONS)
    return block
  }

  /** Calls stand last: the protocol refuses text between a call and its result. */
  #assistantBlocks(message: AssistantMessage): Wire[] {
    const blocks: Wire[] = []
    const calls: Wire[] = []
    for (const part of message.content) {
      if (part.type === 'tool_call') calls.push(this.#callBlock(part))
      else {
        const block = this.#assistantBlock(part)
        if (block !== undefined) blocks.push(block)
      }
    }
    return calls.length === 0 ? blocks : [...blocks, ...calls]
  }

  #callBlock(part: ToolCallPart): Wire {
    const own = ownOptions(part.providerOptions, this.#provider)
    return {
      type: 'tool_use',
      id: wireCallId(part.toolCallId, LONGEST_CALL_ID),
      name: wireToolName(part.toolName),
      input: toolInput(part.args),
      ...(own?.caller === undefined ? {} : { caller: own.caller }),
    }
  }

  #assistantBlock(part: Exclude<AssistantPart, ToolCallPart>): Wire | undefined {
    const own = ownOptions(part.providerOptions, this.#provider)
    switch (part.type) {
      case 'text':
        if (!/\S/.test(part.text)) return undefined
        return { type: 'text', text: part.text, ...(own?.citations === undefined ? {} : { citations: own.citations }) }
      case 'refusal':
        return /\S/.test(part.text) ? { type: 'text', text: part.text } : undefined
      case 'reasoning':
        return own === undefined ? undefined : thinkingBlock(part.text, own)
      case 'hosted':
        return isWire(own?.block) ? { ...own.block } : undefined
      case 'file':
        throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
    }
  }
}

/** Thinking goes back exactly as it came, and only with its signature. */
function thinkingBlock(thinking: string, own: JsonObject): Wire | undefined {
  if (typeof own.redacted === 'string') return { type: 'redacted_thinking', data: own.redacted }
  return typeof own.signature === 'string' ? { type: 'thinking', thinking, signature: own.signature } : undefined
}

function fileBlock(part: FilePart): Wire {
  if (part.mediaType === 'text/plain') {
    const data = Buffer.from(part.data, 'base64').toString('utf8')
    return titled({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } }, part)
  }
  const source = { type: 'base64', media_type: part.mediaType, data: part.data }
  return fileKind(part, PROTOCOL) === 'image' ? { type: 'image', source } : titled({ type: 'document', source }, part)
}

function titled(block: Wire, part: FilePart): Wire {
  return part.filename === undefined ? block : { ...block, title: part.filename }
}
