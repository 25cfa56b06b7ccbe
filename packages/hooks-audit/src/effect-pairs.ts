import type { AuditEntry } from './audit-entry.js'

/** An attempt of an effect of which half is told. */
export interface HalfTold {
  readonly seq: number
  readonly event: string
  readonly run: string | null
  readonly effectId: string | null
  readonly attempt: number | null
}

/** How intents and outcomes of a log fit. */
export interface PairReport {
  /** Entries that are intents, repeated ones too. */
  readonly intents: number
  readonly outcomes: number
  /** Intents of an attempt whose intent stands there already: a process ended between the log and its own memory of it. */
  readonly repeated: number
  /** Intents without an outcome: still open, or the process ended between them. Oldest first; at most 1 000. */
  readonly open: readonly HalfTold[]
  readonly openCount: number
  /** Outcomes of effects that can have started and have no intent. At most 1 000. */
  readonly unannounced: readonly HalfTold[]
  readonly unannouncedCount: number
}

const SHOWN = 1_000

/** Pairs intents with outcomes by effect and attempt; runs by their root. */
export class EffectPairs {
  #intents = 0
  #outcomes = 0
  #repeated = 0
  readonly #open = new Map<string, HalfTold>()
  readonly #unannounced: HalfTold[] = []
  #unannouncedCount = 0

  add(entry: AuditEntry): void {
    const { event } = entry
    if (event.endsWith('.intent')) {
      this.#intents += 1
      const key = keyOf(entry)
      // written twice where a process ended between the log and its own memory of it
      if (this.#open.has(key)) this.#repeated += 1
      else this.#open.set(key, halfOf(entry))
    } else if (event.endsWith('.outcome')) {
      this.#outcomes += 1
      const announced = this.#open.delete(keyOf(entry))
      if (!announced && event !== 'run.outcome' && entry.data.sent !== 'no') {
        this.#unannouncedCount += 1
        if (this.#unannounced.length < SHOWN) this.#unannounced.push(halfOf(entry))
      }
    } else if (event === 'stop' && entry.data.point === 'beforeExecution') {
      // no run began: nothing else will tell its end
      this.#open.delete(`run ${entry.run}`)
    }
  }

  end(): PairReport {
    return {
      intents: this.#intents,
      outcomes: this.#outcomes,
      repeated: this.#repeated,
      open: [...this.#open.values()].slice(0, SHOWN),
      openCount: this.#open.size,
      unannounced: this.#unannounced,
      unannouncedCount: this.#unannouncedCount,
    }
  }
}

function keyOf(entry: AuditEntry): string {
  return entry.event.startsWith('run.') ? `run ${entry.run}` : `${entry.effectId}#${entry.attempt}`
}

function halfOf({ seq, event, run, effectId, attempt }: AuditEntry): HalfTold {
  return { seq, event, run, effectId, attempt }
}
