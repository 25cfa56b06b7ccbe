import { unionLabels } from '../messages/label.js'
import type { Label } from '../messages/label.js'
import type { Message } from '../messages/message.js'

const NOTHING: ReadonlySet<Message> = Object.freeze(new Set<Message>())

/** The conversation of a run that is made of others: what its parts said, and who said it. */
export class Spoken {
  readonly messages: Message[] = []
  readonly withheld = NOTHING
  labels: readonly Label[]
  readonly #by = new Map<Message, string | null>()

  constructor(labels: readonly Label[]) {
    this.labels = labels
  }

  add(message: Message, by: string | null): void {
    this.messages.push(message)
    this.#by.set(message, by)
  }

  /** What was met on the way is met for good. */
  gather(labels: readonly Label[]): void {
    this.labels = unionLabels(this.labels, labels)
  }

  producedBy(message: Message): string | null | undefined {
    return this.#by.get(message)
  }

  shown(): readonly Message[] {
    return Object.freeze([...this.messages])
  }
}
