import type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  JsonObject,
  ModelRequest,
  ReasoningPart,
  RefusalPart,
  TextPart,
  UserMessage,
} from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { OPENAI_RESPONSES } from '../../behaviour/openai-behaviour.js'
import { dataUrl, fileKind, unsupportedContent } from '../../shared/file-content.js'
import { copyOptions, ownOptions } from '../../shared/part-options.js'
import type { RawOptionRules } from '../../shared/raw-options.js'
import { mergeRawOptions } from '../../shared/raw-options.js'
import { wireCallId } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireList } from '../../shared/wire-json.js'
import { wireToolName } from '../../shared/wire-tool-name.js'
import type { OpenAISchemas } from '../openai-tools.js'
import { hasTools } from '../openai-tools.js'

const PROTOCOL = 'openai-responses'
const { longest: LONGEST_CALL_ID } = OPENAI_RESPONSES.callIds
const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
const PART_OPTIONS = ['prompt_cache_breakpoint', 'detail']

const RULES: RawOptionRules = {
  protocol: PROTOCOL,
  hosted: new Set(['tools', 'prompt', 'search_parameters']),
  owned: {
    model: { instead: 'Use `model`.' },
    input: { instead: 'Use `messages`.' },
    instructions: { instead: 'Use a system message.' },
    max_output_tokens: { instead: 'Use `maxOutputTokens`.' },
    stream: { instead: 'Use `stream`.', allowed: false },
    store: { instead: 'State at the provider is off; the history goes with every request.', allowed: false },
    previous_response_id: { instead: 'State at the provider is off; the history goes with every request.' },
    conversation: { instead: 'State at the provider is off; the history goes with every request.' },
    background: { instead: 'Requests are answered at once.', allowed: false },
  },
}

/** The body of `POST /responses`. Nothing is kept at the provider: the whole history goes with every request. */
export function toOpenAIRequest(request: ModelRequest, providerId: string, schemas: OpenAISchemas): Wire {
  refuseStopSequences(request)
  const input = new InputItems(providerId)
  const instructions = input.addAll(request)
  const body: Wire = { model: request.model }
  if (instructions !== undefined) body.instructions = instructions
  body.input = input.items
  if (hasTools(request)) body.tools = toolList(request, schemas)
  if (request.toolChoice !== undefined && hasTools(request)) body.tool_choice = toolChoice(request.toolChoice)
  if (request.output !== undefined) body.text = { format: { type: 'json_schema', ...schemas.output(request.output) } }
  if (request.reasoning !== undefined) body.reasoning = reasoning(request.reasoning)
  // a model that does not reason refuses to be asked for it
  if (request.reasoning !== undefined || input.sawReasoning) body.include = [ENCRYPTED_REASONING]
  body.max_output_tokens = request.maxOutputTokens
  if (request.temperature !== undefined) body.temperature = request.temperature
  if (request.topP !== undefined) body.top_p = request.topP
  body.store = false
  return mergeRawOptions(body, request, RULES)
}

function refuseStopSequences(request: ModelRequest): void {
  if (request.stopSequences === undefined || request.stopSequences.length === 0) return
  throw new SluiceError('INVALID_CONFIG', `The protocol ${PROTOCOL} has no stop sequences.`, {
    hint: "Leave them out, or use openai({ protocol: 'openai-chat' }).",
    reason: 'stop_sequences.unsupported',
  })
}

function toolList(request: ModelRequest, schemas: OpenAISchemas): readonly unknown[] {
  const functions = request.tools.map((tool): unknown => ({ type: 'function', ...schemas.tool(tool) }))
  return request.hostedTools.length === 0
    ? functions
    : [...functions, ...request.hostedTools.map((tool) => tool.configuration)]
}

function toolChoice(choice: NonNullable<ModelRequest['toolChoice']>): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.tool }
}

function reasoning(settings: NonNullable<ModelRequest['reasoning']>): Wire {
  const wire: Wire = {}
  if (settings.level !== undefined) wire.effort = settings.level
  if (settings.summary !== undefined) wire.summary = settings.summary
  return wire
}

/** Gathers the input items of one request. */
class InputItems {
  readonly items: Wire[] = []
  sawReasoning = false
  readonly #provider: string

  constructor(provider: string) {
    this.#provider = provider
  }

  /** Adds the whole history; gives back the instructions: a system message that stands first. */
  addAll(request: ModelRequest): string | undefined {
    let instructions: string | undefined
    for (const message of request.messages) {
      if (message.role === 'user') this.#user(message)
      else if (message.role === 'assistant') this.#assistant(message)
      else if (message.role === 'tool') {
        for (const { toolCallId, result } of message.content) {
          this.items.push({
            type: 'function_call_output',
            call_id: wireCallId(toolCallId, LONGEST_CALL_ID),
            output: result,
          })
        }
      } else if (instructions === undefined && this.items.length === 0) instructions = message.content
      else this.items.push({ role: 'system', content: [{ type: 'input_text', text: message.content }] })
    }
    return instructions
  }

  #user(message: UserMessage): void {
    this.items.push({ role: 'user', content: message.content.map((part) => this.#userPart(part)) })
  }

  #userPart(part: TextPart | FilePart): Wire {
    const wire: Wire = part.type === 'text' ? { type: 'input_text', text: part.text } : filePart(part)
    const options = ownOptions(part.providerOptions, this.#provider)
    if (options !== undefined) copyOptions(wire, options, PART_OPTIONS)
    return wire
  }

  /**
   * Items in the order of the parts. A reasoning item goes back only with its encrypted content and directly before the
   * item that followed it, known by its id: the provider refuses it anywhere else. Where one of a message cannot go back,
   * the ids of that message stay behind as well, because they would ask for it.
   */
  #assistant(message: AssistantMessage): void {
    const known = message.content.every((part) => this.#canGoBack(part))
    let held: Wire[] = []
    for (const part of message.content) {
      if (part.type === 'reasoning') {
        const item = this.#reasoning(part)
        if (item !== undefined && known) held.push(item)
        continue
      }
      const item = this.#assistantItem(part, known)
      if (item === undefined) continue
      if (item.id !== undefined) this.items.push(...held)
      held = []
      this.#append(item)
    }
  }

  #canGoBack(part: AssistantPart): boolean {
    if (part.type !== 'reasoning') return true
    const own = ownOptions(part.providerOptions, this.#provider)?.reasoning
    if (own === undefined) return true
    this.sawReasoning = true
    return isWire(own) && typeof own.encrypted_content === 'string'
  }

  #reasoning(part: ReasoningPart): Wire | undefined {
    const own = ownOptions(part.providerOptions, this.#provider)?.reasoning
    return isWire(own) ? { type: 'reasoning', ...own } : undefined
  }

  #assistantItem(part: AssistantPart, withId: boolean): Wire | undefined {
    const own = ownOptions(part.providerOptions, this.#provider)
    const id = withId ? own?.itemId : undefined
    if (part.type === 'text' || part.type === 'refusal')
      return part.text === '' ? undefined : messageItem(part, own, id)
    if (part.type === 'tool_call') {
      const call = {
        type: 'function_call',
        ...(id === undefined ? {} : { id }),
        call_id: wireCallId(part.toolCallId, LONGEST_CALL_ID),
        name: wireToolName(part.toolName),
        arguments: part.args === '' ? '{}' : part.args,
      }
      return isWire(own?.more) ? { ...call, ...own.more } : call
    }
    if (part.type === 'hosted') return isWire(own?.item) ? { ...own.item } : undefined
    throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
  }

  /** Parts of one output message are one item again. */
  #append(item: Wire): void {
    const last = this.items.at(-1)
    if (item.type === 'message' && item.id !== undefined && last?.id === item.id && last.type === 'message') {
      last.content = [...wireList(last.content), ...wireList(item.content)]
    } else this.items.push(item)
  }
}

/** Text of the model: as the output message that it came in, else in the short form, which has no id. */
function messageItem(part: TextPart | RefusalPart, own: JsonObject | undefined, id: unknown): Wire {
  const phase = own?.phase === undefined ? {} : { phase: own.phase }
  const content =
    part.type === 'refusal' ? { type: 'refusal', refusal: part.text } : { type: 'output_text', text: part.text }
  if (id === undefined) return { role: 'assistant', content: [content], ...phase }
  const whole = part.type === 'refusal' ? content : { ...content, annotations: wireList(own?.annotations) }
  return { type: 'message', id, role: 'assistant', status: 'completed', content: [whole], ...phase }
}

function filePart(part: FilePart): Wire {
  if (fileKind(part, PROTOCOL) === 'image') return { type: 'input_image', image_url: dataUrl(part), detail: 'auto' }
  return { type: 'input_file', filename: part.filename ?? 'document.pdf', file_data: dataUrl(part) }
}
