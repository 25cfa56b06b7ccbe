import type { BranchWork, JsonObject, JsonValue, Label, Logger } from '@sluice/core'
import { encode } from '@toon-format/toon'
import { unionOfLabels } from './union-of-labels.js'
import type { HistoryManagement, Managed } from '../orchestration/history-management.js'
import { manageHistory } from '../orchestration/history-management.js'

/** One entry of a transcript (C-3). */
interface Entry {
  readonly agent: string
  readonly role: string | undefined
  readonly message: JsonValue
  readonly turn: number
  /** Sources of untrusted text in the message. */
  readonly labels: readonly Label[]
}

/** What was said in a conversation: all of it, and the part that goes on (C-15). */
export class Transcript {
  readonly #task: Entry
  readonly #management: HistoryManagement
  readonly #contributions: Entry[] = []
  /** The part that goes on, behind the task (C-W5). */
  #kept: readonly Entry[] = []

  constructor(input: JsonObject, labels: readonly Label[], management: HistoryManagement) {
    this.#task = { agent: 'system', role: undefined, message: input, turn: 0, labels }
    this.#management = management
  }

  add(entry: Entry): void {
    this.#contributions.push(entry)
    this.#kept = [...this.#kept, entry]
  }

  /** Applies the strategy to what goes on (S-41). `name` is that of the run of the summariser, should it be asked. */
  async manage(name: string, work: BranchWork, logger: Logger, agentCode: string): Promise<void> {
    let labels: readonly Label[] = []
    // what the summariser has met stands in its summary
    const noting = {
      run: async (...call: Parameters<BranchWork['run']>) => {
        const result = await work.run(...call)
        labels = result.labels
        return result
      },
    }
    this.#kept = await manageHistory(
      this.#kept,
      this.#management,
      managedEntries(() => labels),
      {
        work: noting,
        logger,
        name,
        agentCode,
      },
    )
  }

  /** `{$.chat_history}`: the task and what goes on of the rest, in TOON. */
  chatHistory(): string {
    return encode([this.#task, ...this.#kept].map(toldOf))
  }

  /** Labels of everything in `{$.chat_history}`. */
  get labels(): readonly Label[] {
    return unionOfLabels([this.#task, ...this.#kept].map((entry) => entry.labels))
  }

  get inputLabels(): readonly Label[] {
    return this.#task.labels
  }

  get input(): JsonValue {
    return this.#task.message
  }

  get length(): number {
    return this.#contributions.length
  }

  /** The full transcript: nothing of it is ever trimmed. */
  toJson(): JsonObject[] {
    return [this.#task, ...this.#contributions].map(toldOf)
  }
}

function toldOf({ agent, role, message, turn }: Entry): JsonObject {
  return role === undefined ? { agent, message, turn } : { agent, role, message, turn }
}

/** Strategies over contributions: they can be cut anywhere. */
function managedEntries(ofSummary: () => readonly Label[]): Managed<Entry> {
  const labelsOf = (entries: readonly Entry[]): readonly Label[] => unionOfLabels(entries.map(({ labels }) => labels))
  return {
    window: (entries, most) => entries.slice(-most),
    cutAt: (entries, keep) => Math.max(0, entries.length - keep),
    told: (entries) => entries.map(toldOf),
    labels: labelsOf,
    replaced(entries, cut, summary) {
      const older = entries.slice(0, cut)
      const turn = older.at(-1)?.turn ?? 0
      const labels = unionOfLabels([labelsOf(older), ofSummary()])
      return [
        { agent: 'system', role: 'summary of earlier contributions', message: summary, turn, labels },
        ...entries.slice(cut),
      ]
    },
  }
}
