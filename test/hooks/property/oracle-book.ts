import type { Account, ReceiptAccount } from './account.js'
import type { Composition } from './composition.js'
import { TIMES } from './composition.js'
import type { Answer } from './oracle-taps.js'

/** A guarded effect of the predicted run, in one attempt. */
export interface Effect {
  readonly name: string
  readonly attempt: number
  readonly askings: string[][]
  watched: number
  passedAt: number
  closed: boolean
}

/** What the predicted run tells and writes, and the time that observers take of it. */
export class OracleBook {
  readonly asked: string[] = []
  readonly started: string[] = []
  readonly closings: string[] = []
  readonly stops: string[] = []
  readonly events: string[] = []
  readonly toolCalls: string[] = []
  readonly pending: string[] = []
  readonly receipts: Record<string, ReceiptAccount> = {}
  /** How the run was stopped, where it was. The first stop stands. */
  stop: { readonly code: string; readonly kind: string } | undefined
  time = 0
  readonly #attempts = new Map<string, number>()
  readonly #observersTake: number

  constructor(shape: Composition) {
    this.#observersTake = observersTake(shape)
  }

  effect(name: string): Effect {
    const attempt = (this.#attempts.get(name) ?? 0) + 1
    return { name, attempt, askings: [], watched: 0, passedAt: -1, closed: false }
  }

  end({ word, code }: Answer): void {
    this.stop ??= word === 'failed' || word === 'timed_out' ? { kind: 'hook', code } : { kind: 'veto', code }
  }

  tell({ word, code, plugin, point }: Answer): void {
    if (word === 'aborted') return
    this.stops.push(`${point} ${plugin} ${word === 'waited' ? 'vetoed' : word} ${code}`)
    this.time += this.#observersTake
  }

  close(effect: Effect, outcome: string, sent: string): void {
    if (effect.closed) return
    this.closings.push(`${effect.name}#${effect.attempt} ${outcome} ${sent}`)
    this.file(effect, outcome, sent)
    this.time += this.#observersTake
  }

  file(effect: Effect, outcome: string, sent: string): void {
    effect.closed = true
    this.#attempts.set(effect.name, effect.attempt)
    this.receipts[`${effect.name}#${effect.attempt}`] = {
      outcome,
      sent,
      askings: effect.askings.filter((rows) => rows.length > 0),
    }
  }

  counts(): Account['counts'] {
    const rows = Object.values(this.receipts)
      .flatMap(({ askings }) => askings.flat())
      .filter((line) => !line.endsWith(' not_asked'))
    const passed = rows.filter((line) => line.endsWith(' passed') || line.includes(' would_veto ')).length
    return { effects: Object.keys(this.receipts).length, asked: rows.length, passed, stopped: rows.length - passed }
  }
}

/** Observers are awaited together, under one deadline. */
function observersTake(shape: Composition): number {
  const ms = shape.plugins.map(({ watching }) =>
    watching === 'hangs' ? Number.POSITIVE_INFINITY : watching === 'slowly' ? TIMES.slowObserverMs : 0,
  )
  return Math.min(TIMES.observerTimeoutMs, Math.max(...ms))
}
