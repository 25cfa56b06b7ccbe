import type { AssistantPart, Message, ModelProvider, ModelReply, ModelRequest } from '@sluice/core'
import { ProviderError } from '@sluice/core'

interface ChatCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}
interface ChatAnswer {
  readonly model: string
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly tool_calls?: readonly ChatCall[] }
  }[]
}

/** As much of a Chat Completions adapter as the tests of `describeToolFailures` need: this package may not import a real one. */
export function tinyChatProvider(change: Partial<ModelProvider> = {}): ModelProvider {
  async function generate(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    const response = await fetch('https://api.openai.com/v1/chat/completions', {
      method: 'POST',
      signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: request.model, messages: request.messages.flatMap(toChat) }),
    })
    if (!response.ok) {
      throw new ProviderError('PROVIDER_RESPONSE_ERROR', `status ${response.status}`, {
        provider: 'tiny',
        status: response.status,
      })
    }
    const answer = (await response.json()) as ChatAnswer
    const message = answer.choices[0]?.message
    const calls = message?.tool_calls ?? []
    const parts: AssistantPart[] = calls.map((call) => ({
      type: 'tool_call',
      toolCallId: call.id,
      toolName: call.function.name,
      args: call.function.arguments,
    }))
    if (typeof message?.content === 'string') parts.unshift({ type: 'text', text: message.content })
    return {
      parts,
      finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
      model: answer.model,
      usage: {
        inputTokens: 1,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 1,
        reasoningTokens: 0,
        unreportedCalls: 0,
      },
    }
  }
  return {
    id: 'tiny',
    protocol: 'openai-chat',
    defaults: { onToolError: 'throw', onToolLimit: 'throw' },
    generate,
    async *stream(request, signal) {
      yield { type: 'reply', reply: await generate(request, signal) }
    },
    ...change,
  }
}

function toChat(message: Message): readonly object[] {
  switch (message.role) {
    case 'system':
      return [message]
    case 'user':
      return [
        { role: 'user', content: message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n') },
      ]
    case 'tool':
      return message.content.map((part) => ({ role: 'tool', tool_call_id: part.toolCallId, content: part.result }))
    default: {
      const calls = message.content.filter((part) => part.type === 'tool_call')
      return [
        {
          role: 'assistant',
          tool_calls: calls.map((part) => ({
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: part.args },
          })),
        },
      ]
    }
  }
}
