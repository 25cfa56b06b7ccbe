import type { Label, Message } from '@sluice/core'

/** The labels of everything in a conversation, and those given besides. */
export function labelsOf(messages: readonly Message[], besides: readonly Label[]): readonly Label[] {
  const found = new Map<string, Label>()
  const add = (labels: readonly Label[] | undefined): void => {
    for (const label of labels ?? []) found.set(JSON.stringify([label.kind, label.source]), label)
  }
  add(besides)
  for (const message of messages) {
    if (message.role === 'assistant') add(message.labels)
    else if (message.role !== 'system') for (const part of message.content) add(part.labels)
  }
  return [...found.values()]
}
