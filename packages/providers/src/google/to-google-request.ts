import type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  JsonObject,
  ModelRequest,
  TextPart,
  ToolResultPart,
} from '@sluice/core'
import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import { fileKind, unsupportedContent } from '../shared/file-content.js'
import { copyOptions, ownOptions } from '../shared/part-options.js'
import { wireCallId } from '../shared/tool-call-ids.js'
import { toolInput } from '../shared/tool-input.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireName } from '../shared/wire-json.js'
import { wireToolName } from '../shared/wire-tool-name.js'
import { mergeGoogleOptions } from './google-raw-options.js'
import type { GoogleSchemas } from './google-schemas.js'
import type { GoogleThinking } from './google-thinking.js'
import { thinkingConfig } from './google-thinking.js'

const { protocol: PROTOCOL, callIds } = GOOGLE_GENERATE_CONTENT
const FILE_OPTIONS = ['mediaResolution', 'videoMetadata']
/** Stands for the signature of a call that another model made: those that ask for signatures take this word for it. */
const MADE_ELSEWHERE = 'skip_thought_signature_validator'

export interface GoogleContext {
  readonly providerId: string
  readonly thinking: GoogleThinking
  readonly schemas: GoogleSchemas
}

/** The body of `models/{model}:generateContent`, and of `:streamGenerateContent`, which is the same. */
export function toGoogleRequest(request: ModelRequest, context: GoogleContext): Wire {
  const system: Wire[] = []
  const contents: Wire[] = []
  for (const message of request.messages) {
    if (message.role === 'system') {
      if (message.content !== '') system.push({ text: message.content })
      continue
    }
    const parts =
      message.role === 'user'
        ? message.content.flatMap((part) => userPart(part, context))
        : message.role === 'tool'
          ? message.content.map(resultPart)
          : modelParts(message, context)
    // a turn without parts is refused
    if (parts.length > 0) contents.push({ role: message.role === 'assistant' ? 'model' : 'user', parts })
  }
  const body: Wire = { contents }
  if (system.length > 0) body.systemInstruction = { parts: system }
  const tools = toolList(request, context.schemas)
  if (tools.length > 0) body.tools = tools
  if (request.tools.length > 0 && request.toolChoice !== undefined) body.toolConfig = toolConfig(request.toolChoice)
  body.generationConfig = generationConfig(request, context)
  return mergeGoogleOptions(body, request)
}

function toolList(request: ModelRequest, schemas: GoogleSchemas): readonly unknown[] {
  const functionDeclarations = request.tools.map((tool) => schemas.tool(tool))
  const hosted = request.hostedTools.map((tool) => tool.configuration)
  return functionDeclarations.length === 0 ? hosted : [{ functionDeclarations }, ...hosted]
}

function toolConfig(choice: NonNullable<ModelRequest['toolChoice']>): Wire {
  if (typeof choice !== 'string') {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.tool] } }
  }
  return { functionCallingConfig: { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() } }
}

function generationConfig(request: ModelRequest, { schemas, thinking }: GoogleContext): Wire {
  const config: Wire = { maxOutputTokens: request.maxOutputTokens }
  if (request.temperature !== undefined) config.temperature = request.temperature
  if (request.topP !== undefined) config.topP = request.topP
  if (request.stopSequences !== undefined && request.stopSequences.length > 0) {
    config.stopSequences = request.stopSequences
  }
  if (request.output !== undefined) Object.assign(config, schemas.output(request.output))
  const reasoning = thinkingConfig(request, thinking)
  if (reasoning !== undefined) config.thinkingConfig = reasoning
  return config
}

function userPart(part: TextPart | FilePart, { providerId }: GoogleContext): Wire[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }]
  const own = ownOptions(part.providerOptions, providerId)
  const wire: Wire = filePart(part, wireName(own?.fileUri))
  if (own !== undefined) copyOptions(wire, own, FILE_OPTIONS)
  return [wire]
}

/** A file that the caller uploaded to the provider is named by its address; any other goes along. */
function filePart(part: FilePart, fileUri: string | undefined): Wire {
  if (fileUri !== undefined) return { fileData: { fileUri, mimeType: part.mediaType } }
  fileKind(part, PROTOCOL)
  return { inlineData: { mimeType: part.mediaType, data: part.data } }
}

/**
 * `error` holds every result but `ok` and `refused`: a refusal is an answer of the application (G-40), the others tell the
 * model that its call did not do what it asked for.
 */
function resultPart(part: ToolResultPart): Wire {
  const failed = part.status !== 'ok' && part.status !== 'refused'
  return {
    functionResponse: {
      id: wireCallId(part.toolCallId, callIds.longest),
      name: wireToolName(part.toolName),
      response: failed ? { error: part.result === '' ? 'The tool failed.' : part.result } : { output: part.result },
    },
  }
}

/** The parts of a turn of the model. Where calls are signed, the first one of a turn is. */
function modelParts(message: AssistantMessage, context: GoogleContext): Wire[] {
  const parts = message.content.flatMap((part) => modelPart(part, ownOptions(part.providerOptions, context.providerId)))
  const first = parts.find((part) => part.functionCall !== undefined)
  if (context.thinking === 'level' && first !== undefined) first.thoughtSignature ??= MADE_ELSEWHERE
  return parts
}

function modelPart(part: AssistantPart, own: JsonObject | undefined): Wire[] {
  switch (part.type) {
    case 'text':
      return textParts(part.text, own, {})
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'reasoning':
      if (own === undefined) return []
      return textParts(part.text, own, own.thought === true ? { thought: true } : {})
    case 'tool_call':
      return [
        {
          functionCall: {
            id: wireCallId(part.toolCallId, callIds.longest),
            name: wireToolName(part.toolName),
            args: toolInput(part.args),
          },
          ...signed(own?.thoughtSignature),
        },
      ]
    case 'hosted':
      return isWire(own?.part) ? [{ ...own.part }] : []
    case 'file': {
      if (own?.made !== true) throw unsupportedContent(part.type, 'an assistant message', PROTOCOL)
      const { made: _made, ...rest } = own
      return [{ inlineData: { mimeType: part.mediaType, data: part.data }, ...rest }]
    }
  }
}

/** A text in the pieces in which it came, each with its signature; in one, where it is not the text that came. */
function textParts(text: string, own: JsonObject | undefined, members: Wire): Wire[] {
  const pieces = wireList(own?.pieces).filter(isWire)
  const length = pieces.reduce((sum, piece) => sum + Number(piece.length), 0)
  if (pieces.length === 0 || length !== text.length) {
    const signature = signed(own?.thoughtSignature)
    return text === '' && signature.thoughtSignature === undefined ? [] : [{ text, ...members, ...signature }]
  }
  let from = 0
  return pieces.map((piece) => {
    const to = from + Number(piece.length)
    const wire = { text: text.slice(from, to), ...members, ...signed(piece.thoughtSignature) }
    from = to
    return wire
  })
}

function signed(thoughtSignature: unknown): { thoughtSignature?: string } {
  return typeof thoughtSignature === 'string' ? { thoughtSignature } : {}
}
