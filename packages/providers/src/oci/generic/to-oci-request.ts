import type { AssistantMessage, FilePart, Message, ModelRequest, TextPart } from '@sluice/core'
import { OCI_GENERIC } from '../../behaviour/oci-behaviour.js'
import { dataUrl, fileKind, unsupportedContent } from '../../shared/file-content.js'
import { ownOptions } from '../../shared/part-options.js'
import type { RawOptionRules } from '../../shared/raw-options.js'
import { wireCallId } from '../../shared/tool-call-ids.js'
import type { Wire } from '../../shared/wire-json.js'
import { wireToolName } from '../../shared/wire-tool-name.js'
import type { OciContext } from '../chat-details.js'
import { chatDetails, refuseHostedTools } from '../chat-details.js'
import type { OciSchemas } from '../oci-schemas.js'

const PROTOCOL = OCI_GENERIC.protocol
const LONGEST_CALL_ID = OCI_GENERIC.callIds.longest

const RULES: RawOptionRules = {
  protocol: PROTOCOL,
  hosted: new Set(['tools', 'webSearchOptions']),
  owned: { messages: { instead: 'Use `messages`.' } },
}

/** The body for every vendor but Cohere. */
export function toOciGenericRequest(request: ModelRequest, context: OciContext, schemas: OciSchemas): Wire {
  refuseHostedTools(request, PROTOCOL)
  const chat: Wire = { apiFormat: 'GENERIC', messages: messages(request.messages, context.providerId) }
  if (request.tools.length > 0) {
    chat.tools = request.tools.map(schemas.tool)
    if (request.toolChoice !== undefined) chat.toolChoice = toolChoice(request.toolChoice)
  }
  if (request.output !== undefined) chat.responseFormat = schemas.output(request.output)
  if (request.reasoning?.level !== undefined) chat.reasoningEffort = request.reasoning.level.toUpperCase()
  // OpenAI's models know the cap by another name
  chat[request.model.startsWith('openai.') ? 'maxCompletionTokens' : OCI_GENERIC.outputCap] = request.maxOutputTokens
  if (request.temperature !== undefined) chat.temperature = request.temperature
  if (request.topP !== undefined) chat.topP = request.topP
  if (request.stopSequences !== undefined && request.stopSequences.length > 0) chat.stop = request.stopSequences
  return chatDetails(request, chat, context, RULES)
}

function toolChoice(choice: NonNullable<ModelRequest['toolChoice']>): Wire {
  return typeof choice === 'string' ? { type: choice.toUpperCase() } : { type: 'FUNCTION', name: choice.tool }
}

function textContent(text: string): readonly Wire[] {
  return [{ type: 'TEXT', text }]
}

function messages(history: readonly Message[], providerId: string): readonly Wire[] {
  const list: Wire[] = []
  for (const message of history) {
    if (message.role === 'system') list.push({ role: 'SYSTEM', content: textContent(message.content) })
    else if (message.role === 'user') list.push({ role: 'USER', content: message.content.map(userPart) })
    else if (message.role === 'tool') {
      for (const { toolCallId, result } of message.content) {
        list.push({ role: 'TOOL', toolCallId: wireCallId(toolCallId, LONGEST_CALL_ID), content: textContent(result) })
      }
    } else {
      const assistant = assistantMessage(message, providerId)
      if (assistant !== undefined) list.push(assistant)
    }
  }
  return list
}

function userPart(part: TextPart | FilePart): Wire {
  if (part.type === 'text') return { type: 'TEXT', text: part.text }
  const url = dataUrl(part)
  return fileKind(part, PROTOCOL) === 'image'
    ? { type: 'IMAGE', imageUrl: { url } }
    : { type: 'DOCUMENT', documentUrl: { url } }
}

/** One message of the model; `undefined` where nothing of it can be sent here. A call without text has no content at all. */
function assistantMessage(message: AssistantMessage, providerId: string): Wire | undefined {
  const content: Wire[] = []
  const calls: Wire[] = []
  const thoughts: string[] = []
  for (const part of message.content) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text !== '') content.push({ type: 'TEXT', text: part.text })
    } else if (part.type === 'reasoning') {
      if (ownOptions(part.providerOptions, providerId)?.member === 'reasoningContent') thoughts.push(part.text)
    } else if (part.type === 'tool_call') {
      calls.push({
        type: 'FUNCTION',
        id: wireCallId(part.toolCallId, LONGEST_CALL_ID),
        name: wireToolName(part.toolName),
        arguments: part.args === '' ? '{}' : part.args,
      })
    } else if (part.type === 'file') throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
  }
  if (content.length === 0 && calls.length === 0) return undefined
  return {
    role: 'ASSISTANT',
    ...(content.length === 0 ? {} : { content }),
    ...(thoughts.length === 0 ? {} : { reasoningContent: thoughts.join('\n\n') }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  }
}
