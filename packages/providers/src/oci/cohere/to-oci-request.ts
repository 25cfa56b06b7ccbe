import type { AssistantMessage, Message, ModelRequest, ToolMessage, UserMessage } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { OCI_COHERE } from '../../behaviour/oci-behaviour.js'
import { fileKind, unsupportedContent } from '../../shared/file-content.js'
import type { RawOptionRules } from '../../shared/raw-options.js'
import { toolInput } from '../../shared/tool-input.js'
import type { Wire } from '../../shared/wire-json.js'
import { wireToolName } from '../../shared/wire-tool-name.js'
import type { OciContext } from '../chat-details.js'
import { chatDetails, refuseHostedTools } from '../chat-details.js'
import type { OciSchemas } from '../oci-schemas.js'

const PROTOCOL = OCI_COHERE.protocol

const RULES: RawOptionRules = {
  protocol: PROTOCOL,
  hosted: new Set(['tools']),
  owned: {
    message: { instead: 'Use `messages`.' },
    chatHistory: { instead: 'Use `messages`.' },
    toolResults: { instead: 'Use `messages`.' },
    preambleOverride: { instead: 'Use a system message.' },
  },
}

/** The body for the models of Cohere. */
export function toOciCohereRequest(request: ModelRequest, context: OciContext, schemas: OciSchemas): Wire {
  refuseHostedTools(request, PROTOCOL)
  refuseForcedTools(request)
  const turns = new Turns(request.messages)
  const chat: Wire = {
    apiFormat: 'COHERE',
    message: turns.message(request.providerOptions?.isForceSingleStep === true),
  }
  if (turns.history.length > 0) chat.chatHistory = turns.history
  if (turns.results !== undefined) chat.toolResults = turns.results
  if (turns.preamble.length > 0) chat.preambleOverride = turns.preamble.join('\n')
  if (request.tools.length > 0 && request.toolChoice !== 'none') chat.tools = request.tools.map(schemas.tool)
  if (request.output !== undefined) chat.responseFormat = schemas.output(request.output)
  chat[OCI_COHERE.outputCap] = request.maxOutputTokens
  if (request.temperature !== undefined) chat.temperature = request.temperature
  if (request.topP !== undefined) chat.topP = request.topP
  if (request.stopSequences !== undefined && request.stopSequences.length > 0) {
    chat.stopSequences = request.stopSequences
  }
  return chatDetails(request, chat, context, RULES)
}

function refuseForcedTools({ toolChoice }: ModelRequest): void {
  if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return
  throw new SluiceError('INVALID_CONFIG', `The protocol ${PROTOCOL} cannot make the model call a tool.`, {
    hint: "Leave `toolChoice` out, or use 'auto' or 'none'.",
    reason: 'tool_choice.unsupported',
  })
}

/** What a call is to the protocol: it has no id, so a result carries the whole call. */
interface Call {
  readonly id: string
  readonly wire: Wire
}

/**
 * The conversation as the protocol wants it: system text that opens it apart, the newest user message apart, the results
 * of the last round apart, and before them the history.
 */
class Turns {
  readonly preamble: string[] = []
  readonly history: Wire[] = []
  results: readonly Wire[] | undefined
  #calls: readonly Call[] = []
  #question = ''
  #open = false

  constructor(messages: readonly Message[]) {
    const last = messages.findLast(({ role }) => role !== 'system')
    for (const message of messages) this.#add(message, message === last)
  }

  /**
   * The newest user message. Behind results it stands in the history already, and is empty here, unless the caller asks
   * for single steps: then it is said again.
   */
  message(singleStep: boolean): string {
    return this.#open || (singleStep && this.results !== undefined) ? this.#question : ''
  }

  #add(message: Message, isLast: boolean): void {
    switch (message.role) {
      case 'system':
        if (this.history.length === 0 && this.#question === '') this.preamble.push(message.content)
        else this.history.push({ role: 'SYSTEM', message: message.content })
        return
      case 'user':
        this.#question = userText(message)
        this.#open = isLast
        if (!isLast) this.history.push({ role: 'USER', message: this.#question })
        return
      case 'tool':
        if (isLast) this.results = this.#resultsOf(message)
        else this.history.push({ role: 'TOOL', toolResults: this.#resultsOf(message) })
        return
      case 'assistant':
        this.#assistant(message)
    }
  }

  #resultsOf({ content }: ToolMessage): readonly Wire[] {
    const placeOf = (id: string) => this.#calls.findIndex((call) => call.id === id)
    return [...content]
      .sort((left, right) => placeOf(left.toolCallId) - placeOf(right.toolCallId))
      .map(({ toolCallId, toolName, result }) => ({
        call: this.#calls[placeOf(toolCallId)]?.wire ?? { name: wireToolName(toolName), parameters: {} },
        outputs: [{ result }],
      }))
  }

  #assistant(message: AssistantMessage): void {
    const texts: string[] = []
    const calls: Call[] = []
    for (const part of message.content) {
      if (part.type === 'text' || part.type === 'refusal') texts.push(part.text)
      else if (part.type === 'tool_call') {
        const wire = { name: wireToolName(part.toolName), parameters: toolInput(part.args) }
        calls.push({ id: part.toolCallId, wire })
      } else if (part.type === 'file') throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
    }
    this.#calls = calls
    const text = texts.filter((piece) => piece !== '').join('\n')
    if (text === '' && calls.length === 0) return
    this.history.push({
      role: 'CHATBOT',
      ...(text === '' ? {} : { message: text }),
      ...(calls.length === 0 ? {} : { toolCalls: calls.map((call) => call.wire) }),
    })
  }
}

function userText({ content }: UserMessage): string {
  const texts: string[] = []
  for (const part of content) {
    if (part.type === 'text') texts.push(part.text)
    // refuses every file, as the row of the protocol says
    else fileKind(part, PROTOCOL)
  }
  return texts.join('\n')
}
