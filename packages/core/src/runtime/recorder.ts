import type { Steps } from '../engine/engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RoundRecorder } from '../generate/generate-call.js'
import type { Tree } from '../generate/tree.js'
import { wellFormedJson } from '../internal/well-formed-text.js'
import type { Message } from '../messages/message.js'
import { toRows } from '../sessions/message-rows.js'
import type { NewMessageRecord } from '../store/records.js'
import type { Store } from '../store/store.js'
import { writeReceipts } from './write-receipts.js'

interface Target {
  readonly sessionId: string
  readonly executionId: string
  readonly agentCode: string
}

/** The part of a call that goes on record. */
interface Conversation {
  readonly messages: readonly Message[]
  readonly withheld: ReadonlySet<Message>
  /** Who made a message, where that is not the agent of the turn. */
  producedBy?(message: Message): string | null | undefined
}

/** Messages on their way to the log, and where the counters stood before. */
interface Taken {
  readonly messages: readonly Message[]
  readonly of: Conversation
  readonly from: { readonly recorded: number; readonly messageIndex: number; readonly round: number }
}

const NOTHING: Conversation = { messages: [], withheld: new Set() }

/** What one run writes while it goes on: the rows of its turn (top level only), and the receipts of its tree. */
export class RunRecorder implements RoundRecorder {
  readonly #store: Store
  readonly #tree: Tree
  readonly #steps: Steps
  readonly #target: Target | undefined
  /** Messages of the conversation that are on record: at first those of earlier turns. */
  #recorded = 0
  #messageIndex = 0
  #round = 0
  #writes = 0
  /** Rows of the session after the last write of this run. */
  messageCount: number | undefined

  constructor(tree: Tree, steps: Steps, target: Target | undefined) {
    this.#store = tree.parts.store
    this.#tree = tree
    this.#steps = steps
    this.#target = target
  }

  /** The first `count` messages of the conversation are on record already: they are those of earlier turns. */
  startAfter(count: number): void {
    this.#recorded = count
  }

  async closeRound(call: Conversation): Promise<void> {
    const taken = this.#take(call)
    const count = await this.#steps.step(`log${++this.#writes}`, () => this.#write(taken))
    if (count !== null) this.messageCount = count
  }

  /** What is not on record when the run ends before its round was closed: written once, whatever becomes of the run. */
  async rest(call: Conversation | undefined): Promise<void> {
    const count = await this.#write(this.#take(call ?? NOTHING))
    if (count !== null) this.messageCount = count
  }

  /** The rows of what is not on record, for a pause to keep. */
  unlogged(call: Conversation | undefined): readonly NewMessageRecord[] {
    const target = this.#target
    if (target === undefined || call === undefined) return []
    const from = { recorded: this.#recorded, messageIndex: this.#messageIndex, round: this.#round }
    const messages = call.messages.slice(this.#recorded)
    return wellFormedJson(this.#rowsOf({ messages, of: call, from }, target))
  }

  #take(call: Conversation): Taken {
    const from = { recorded: this.#recorded, messageIndex: this.#messageIndex, round: this.#round }
    const messages = call.messages.slice(this.#recorded)
    this.#recorded = call.messages.length
    this.#messageIndex += messages.length
    for (const message of messages) if (message.role === 'assistant') this.#round += 1
    return { messages, of: call, from }
  }

  async #write(taken: Taken): Promise<number | null> {
    const receipts = writeReceipts(this.#tree)
    const target = this.#target
    if (target === undefined || taken.messages.length === 0) {
      await receipts
      return null
    }
    const [count] = await Promise.all([this.#writeMessages(taken, target), receipts])
    return count
  }

  async #writeMessages(taken: Taken, target: Target): Promise<number> {
    const { from } = taken
    const rows = this.#rowsOf(taken, target)
    try {
      return await this.#store.messages.append(target.sessionId, rows)
    } catch (fault) {
      // a text that no store takes must not lose the turn (CASE-20): it comes from raw data of a provider
      if (SluiceError.isInstance(fault, 'STORE_VALUE_INVALID'))
        return this.#store.messages.append(target.sessionId, wellFormedJson(rows))
      if (!SluiceError.isInstance(fault, 'STORE_OUTCOME_UNKNOWN')) {
        this.#recorded = from.recorded
        this.#messageIndex = from.messageIndex
        this.#round = from.round
      }
      throw fault
    }
  }

  #rowsOf({ messages, of, from }: Taken, target: Target): NewMessageRecord[] {
    const { ids, clock } = this.#tree.parts
    return toRows(messages, {
      ...target,
      ids,
      at: clock.now(),
      firstMessageIndex: from.messageIndex,
      firstRound: from.round,
      withheld: (index) => of.withheld.has(messages[index] as Message),
      producedBy: (index) => of.producedBy?.(messages[index] as Message),
    })
  }
}
