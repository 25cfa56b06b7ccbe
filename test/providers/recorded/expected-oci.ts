import type { RecordedResponse } from '@sluice/testkit'
import type { Raw } from './raw-json.js'
import type { ReplyFacts } from './reply-facts.js'
import { argsOf } from './reply-facts.js'

const COHERE_FINISH: Readonly<Record<string, string>> = { COMPLETE: 'stop', MAX_TOKENS: 'length' }

/** What a recorded answer of OCI's chat says, in either form. */
export function expectedFromOci(recorded: RecordedResponse): ReplyFacts {
  const result = recorded.body as Raw
  const chat = result.chatResponse as Raw
  const { usage } = chat
  const read = chat.apiFormat === 'COHERE' ? ofCohere(chat) : ofGeneric(chat.choices[0])
  return {
    refusal: '',
    reasoning: [],
    opaque: [],
    hosted: [],
    ...read,
    model: result.modelId,
    responseId: undefined,
    usage: [usage.promptTokens, null, null, usage.completionTokens, null],
  }
}

function ofCohere(chat: Raw) {
  const calls = (chat.toolCalls ?? []) as Raw[]
  return {
    text: chat.text as string,
    calls: calls.map((call, index) => ({
      id: `tool_call_${index + 1}`,
      name: call.name,
      args: argsOf(JSON.stringify(call.parameters)),
    })),
    finishReason: calls.length > 0 ? 'tool_calls' : (COHERE_FINISH[chat.finishReason] as string),
  }
}

function ofGeneric(choice: Raw) {
  const { content, toolCalls } = choice.message as Raw
  return {
    text: ((content ?? []) as Raw[]).map((piece) => piece.text).join(''),
    calls: ((toolCalls ?? []) as Raw[]).map((call) => ({ id: call.id, name: call.name, args: argsOf(call.arguments) })),
    finishReason: choice.finishReason as string,
  }
}
