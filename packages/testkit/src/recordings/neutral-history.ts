import type { AssistantPart, Message, SystemMessage, ToolResultPart, UserMessage } from '@sluice/core'

/** Puts a neutral history together from the items of a recorded request: what belongs to one turn becomes one message. */
export class NeutralHistory {
  readonly messages: Message[] = []
  readonly #names = new Map<string, string>()

  system(content: string): void {
    this.messages.push({ role: 'system', content } satisfies SystemMessage)
  }

  user(content: UserMessage['content']): void {
    this.messages.push({ role: 'user', content })
  }

  /** Adds parts to the turn of the model that is open, or begins one. */
  assistant(parts: readonly AssistantPart[]): void {
    for (const part of parts) if (part.type === 'tool_call') this.#names.set(part.toolCallId, part.toolName)
    const last = this.messages.at(-1)
    if (last?.role === 'assistant')
      this.messages[this.messages.length - 1] = { ...last, content: [...last.content, ...parts] }
    else this.messages.push({ role: 'assistant', content: parts })
  }

  /** Adds a result to the round that is open, or begins one. A recorded result is `ok` unless it is marked as an error. */
  result(toolCallId: string, result: string, status: ToolResultPart['status'] = 'ok'): void {
    const part: ToolResultPart = {
      type: 'tool_result',
      toolCallId,
      toolName: this.#names.get(toolCallId) ?? 'unknown',
      result,
      status,
    }
    const last = this.messages.at(-1)
    if (last?.role === 'tool')
      this.messages[this.messages.length - 1] = { role: 'tool', content: [...last.content, part] }
    else this.messages.push({ role: 'tool', content: [part] })
  }
}
