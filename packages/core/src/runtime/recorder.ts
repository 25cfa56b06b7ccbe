import type { Steps } from '../engine/engine.js'
import { receiptsOf } from '../generate/tree-receipts.js'
import type { CallScope } from '../generate/call-scope.js'
import type { RoundRecorder } from '../generate/generate-call.js'
import type { Tree } from '../generate/tree.js'
import type { Message } from '../messages/message.js'
import { toRows } from '../sessions/message-rows.js'
import type { Store } from '../store/store.js'

/** What one run writes while it goes on: the rows of its turn (top level only), and the receipts of its tree. */
export class RunRecorder implements RoundRecorder {
  readonly #store: Store
  readonly #tree: Tree
  readonly #steps: Steps
  readonly #target: { readonly sessionId: string; readonly executionId: string; readonly agentCode: string } | undefined
  /** Messages of the conversation that are on record: at first those of earlier turns. */
  #recorded = 0
  #messageIndex = 0
  #round = 0
  #writes = 0
  /** Rows of the session after the last write of this run. */
  messageCount: number | undefined

  constructor(
    tree: Tree,
    steps: Steps,
    target: { sessionId: string; executionId: string; agentCode: string } | undefined,
  ) {
    this.#store = tree.parts.store
    this.#tree = tree
    this.#steps = steps
    this.#target = target
  }

  /** The first `count` messages of the conversation are on record already: they are those of earlier turns. */
  startAfter(count: number): void {
    this.#recorded = count
  }

  async closeRound(call: CallScope, withheld: boolean): Promise<void> {
    const { messages, first } = this.#take(call.messages)
    const replayed = this.#steps.recorded(`log${this.#writes + 1}`) === 'done'
    const count = await this.#steps.step(`log${++this.#writes}`, () =>
      this.#write(messages, first, (index) => withheld || call.withheld.has(messages[index] as Message)),
    )
    if (count !== null) this.messageCount = count
    if (replayed) this.#tree.receipts = []
  }

  /** What is not on record when the run ends before its round was closed: written once, whatever becomes of the run. */
  async rest(messages: readonly Message[]): Promise<void> {
    const { messages: fresh, first } = this.#take(messages)
    const count = await this.#write(fresh, first, () => false)
    if (count !== null) this.messageCount = count
  }

  #take(all: readonly Message[]): { messages: readonly Message[]; first: { message: number; round: number } } {
    const messages = all.slice(this.#recorded)
    const first = { message: this.#messageIndex, round: this.#round }
    this.#recorded = all.length
    this.#messageIndex += messages.length
    for (const message of messages) if (message.role === 'assistant') this.#round += 1
    return { messages, first }
  }

  async #write(
    messages: readonly Message[],
    first: { message: number; round: number },
    withheld: (index: number) => boolean,
  ): Promise<number | null> {
    const receipts = receiptsOf(this.#tree)
    const writes: Promise<unknown>[] = []
    if (receipts.length > 0) writes.push(this.#store.receipts.append(this.#tree.rootExecutionId, receipts))
    const target = this.#target
    if (target === undefined || messages.length === 0) {
      if (writes.length > 0) await writes[0]
      return null
    }
    const { ids, clock } = this.#tree.parts
    const rows = toRows(messages, {
      ...target,
      ids,
      at: clock.now(),
      firstMessageIndex: first.message,
      firstRound: first.round,
      withheld,
    })
    const [count] = await Promise.all([this.#store.messages.append(target.sessionId, rows), ...writes])
    return count as number
  }
}
