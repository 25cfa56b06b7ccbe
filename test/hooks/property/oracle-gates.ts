import type { Act } from './acts.js'
import type { Composition, Point } from './composition.js'
import { TIMES } from './composition.js'
import { judgeAct } from './oracle-act.js'
import type { Effect, OracleBook } from './oracle-book.js'
import type { Answer, Tap } from './oracle-taps.js'
import { tapsOf } from './oracle-taps.js'

/** A call from inside a gate came back to the point of that gate. */
export class Reentered extends Error {}

/** Makes the call that a gate makes from inside. True where it failed without ending the run. */
type CallInside = (effect: Effect, tap: Tap, number: number, inside: readonly string[]) => boolean

/** Asks the gates of the predicted run: in order, with waits, and while an effect is open. */
export class OracleGates {
  readonly #shape: Composition
  readonly #book: OracleBook
  readonly #callInside: CallInside
  readonly #taps: readonly Tap[]
  readonly #drawn = new Map<string, number>()
  /** Up to when timers have fired: a gate that keeps the thread moves time, and no timer fires meanwhile. */
  #fired = 0
  #waited = 0

  constructor(shape: Composition, book: OracleBook, callInside: CallInside) {
    this.#shape = shape
    this.#book = book
    this.#callInside = callInside
    this.#taps = tapsOf(shape)
  }

  /** The taps of a point in the order in which they are asked. */
  at(point: Point): readonly Tap[] {
    // a stable sort: the order of registration within one stage
    return this.#taps.filter((tap) => tap.point === point).sort((left, right) => left.stage - right.stage)
  }

  /** Asks all lists until they settle: a wait that the run can afford is waited for, and all are asked again. */
  settle(effect: Effect, lists: readonly (readonly Tap[])[], inside: readonly string[]): Answer | undefined {
    for (;;) {
      const rows: string[] = []
      if (lists.some((list) => list.length > 0)) effect.askings.push(rows)
      let answer: Answer | undefined
      for (const list of lists) {
        if (answer === undefined) answer = this.#askPoint(effect, list, rows, inside)
        else for (const tap of list) rows.push(`${tap.plugin} ${tap.point} not_asked`)
      }
      if (answer === undefined) {
        effect.passedAt = this.#book.time
        return undefined
      }
      if (answer.word !== 'waited') return answer
      // every wait costs at least a millisecond of what the run has
      const cost = Math.max(1, answer.waitMs)
      if (this.#waited + cost > this.#shape.maxWaitMs) return answer
      this.#waited += cost
      this.#book.time += answer.waitMs
    }
  }

  /** An effect that is open for `ms`: asked about every second until it is there. */
  watch(effect: Effect, ms: number, inside: readonly string[]): { stop: Answer | undefined; arrived: boolean } {
    const book = this.#book
    const taps = this.at('whileInFlight')
    const end = book.time + ms
    for (let next = book.time + TIMES.watchMs; taps.length > 0 && next < end; next = book.time + TIMES.watchMs) {
      book.time = next
      if (inside.includes('whileInFlight')) throw new Reentered()
      const rows: string[] = []
      const stop = this.#askPoint(effect, taps, rows, inside)
      // the receipt keeps the first asking and the last
      if (++effect.watched > 2) effect.askings.pop()
      effect.askings.push(rows)
      if (stop !== undefined) return { stop, arrived: this.#fired >= end }
      if (book.time >= end) return { stop: undefined, arrived: true }
    }
    book.time = Math.max(book.time, end)
    return { stop: undefined, arrived: true }
  }

  #askPoint(effect: Effect, taps: readonly Tap[], rows: string[], inside: readonly string[]): Answer | undefined {
    let stop: Answer | undefined
    const state = { calls: 0 }
    if (taps[0] !== undefined && inside.includes(taps[0].point)) throw new Reentered()
    for (const tap of taps) {
      if (stop !== undefined) {
        rows.push(`${tap.plugin} ${tap.point} not_asked`)
        continue
      }
      this.#book.asked.push(`${effect.name} ${tap.point} ${tap.id}`)
      const answer = this.#askTap(effect, tap, state, inside)
      if (answer === undefined) rows.push(`${tap.plugin} ${tap.point} passed`)
      else if (answer.word === 'aborted') rows.push(`${tap.plugin} ${tap.point} aborted`)
      else rows.push(`${tap.plugin} ${tap.point} ${tap.shadow ? 'would_veto' : answer.word} ${answer.code}`)
      if (answer !== undefined && (!tap.shadow || answer.word === 'aborted')) stop = answer
    }
    return stop
  }

  #askTap(effect: Effect, tap: Tap, state: { calls: number }, inside: readonly string[]): Answer | undefined {
    const drawn = this.#drawn.get(tap.id) ?? 0
    this.#drawn.set(tap.id, drawn + 1)
    const book = this.#book
    return judgeAct(tap.acts[Math.min(drawn, tap.acts.length - 1)] as Act, tap, {
      wait: (ms) => {
        book.time += ms
        this.#fired = book.time
      },
      block: (ms) => {
        book.time += ms
      },
      abort: () => {
        book.stop = { kind: 'aborted', code: 'RUN_ABORTED' }
        book.stops.push('run null aborted RUN_ABORTED')
      },
      call: () => this.#callInside(effect, tap, ++state.calls, inside),
      get stopped() {
        return book.stop !== undefined
      },
    })
  }
}
