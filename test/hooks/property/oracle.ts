import type { Account } from './account.js'
import type { Composition } from './composition.js'
import { TIMES } from './composition.js'
import { OracleBook } from './oracle-book.js'
import type { Effect } from './oracle-book.js'
import { Ended, Paused, stopEffect } from './oracle-ends.js'
import { OracleGates, Reentered } from './oracle-gates.js'
import { playRound } from './oracle-round.js'
import type { Answer } from './oracle-taps.js'

/**
 * What a run has to come to, told from the text of the contract: an independent model that shares no code with the
 * dispatcher. It goes through the run in order, with a time of its own, and asks each tap what its act amounts to.
 */
export function predict(composition: Composition): Account {
  return new Oracle(composition).account()
}

class Oracle {
  readonly #shape: Composition
  readonly #book: OracleBook
  readonly #gates: OracleGates
  #landed = false
  #mainReplies = 0

  constructor(shape: Composition) {
    this.#shape = shape
    this.#book = new OracleBook(shape)
    this.#gates = new OracleGates(shape, this.#book, (effect, tap, number, inside) =>
      this.#callInside(`${effect.name}/${tap.point}/g${number}/`, [...inside, tap.point]),
    )
  }

  account(): Account {
    const book = this.#book
    let result: string
    let afterExecution: string[] = []
    const effect = book.effect('execution')
    const answer = this.#gates.settle(effect, [this.#gates.at('beforeExecution')], [])
    if (answer !== undefined) {
      book.end(answer)
      book.file(effect, answer.word === 'aborted' ? 'aborted' : 'stopped', 'no')
      book.tell(answer)
      result = this.#failed()
    } else {
      try {
        this.#generate('', [], false)
        book.file(effect, 'ok', 'yes')
        result = 'completed'
        afterExecution = ['completed']
      } catch (thrown) {
        if (thrown instanceof Paused) result = 'paused'
        else if (thrown instanceof Ended) {
          book.file(effect, book.stop?.kind === 'aborted' ? 'aborted' : 'stopped', 'yes')
          result = this.#failed()
          afterExecution = ['failed']
        } else throw thrown
      }
    }
    return {
      result,
      pending: result === 'paused' ? book.pending : [],
      asked: book.asked,
      started: book.started,
      // a call inside a gate ends beside the run that a stop in it has ended
      closings: book.closings.sort(),
      stops: book.stops,
      afterExecution,
      receipts: book.receipts,
      counts: book.counts(),
      toolCalls: book.toolCalls,
      events: this.#shape.stream ? book.events : undefined,
    }
  }

  #failed(): string {
    return `${this.#book.stop?.kind} ${this.#book.stop?.code}`
  }

  // one call of the model and tool loop

  #generate(path: string, inside: readonly string[], side: boolean): void {
    const book = this.#book
    let landing = false
    let refusals = 0
    for (let request = 1; ; request++) {
      // a reply that could not be asked about is not sent for
      if (inside.includes('inspectReply') && this.#gates.at('inspectReply').length > 0) throw new Reentered()
      const effect = book.effect(`${path}m${request}`)
      const before = this.#gates.settle(effect, [this.#gates.at('beforeModelCall')], inside)
      if (before?.word === 'landed' && !this.#landed) {
        this.#landed = true
        landing = true
        book.close(effect, 'not_run', 'no')
        continue
      }
      if (before !== undefined) {
        const stop: Answer = before.word === 'landed' ? { ...before, word: 'vetoed', code: 'LANDED_TWICE' } : before
        stopEffect(book, effect, stop, 'no')
      }
      book.started.push(side ? 'side' : 'model')
      const first = !side && this.#mainReplies++ === 0
      const calls = first && !landing
      this.#open(effect, side ? TIMES.sideReplyMs : this.#shape.replyMs[first ? 0 : 1], inside)
      const after = this.#gates.settle(effect, [this.#gates.at('inspectReply')], inside)
      if (after?.word === 'refused') {
        book.close(effect, 'refused', 'yes')
        book.tell(after)
        // a run that lands has one last request
        if (++refusals === 2 || landing) {
          const stop: Answer = { ...after, word: 'vetoed', code: refusals === 2 ? 'REFUSED_TWICE' : 'LANDING_REFUSED' }
          book.end(stop)
          book.tell(stop)
          throw new Ended()
        }
        continue
      }
      if (after !== undefined) stopEffect(book, effect, after, 'yes')
      book.close(effect, 'ok', 'yes')
      refusals = 0
      book.events.push('assistant_text')
      if (!calls) {
        book.events.push('response_complete')
        return
      }
      playRound(this.#shape, book, this.#gates, effect.name)
    }
  }

  /** A request that is open: watched every second until its reply is there. */
  #open(effect: Effect, ms: number, inside: readonly string[]): void {
    const book = this.#book
    const { stop, arrived } = this.#gates.watch(effect, ms, inside)
    if (stop === undefined) return
    if (stop.word !== 'aborted') stopEffect(book, effect, stop, 'yes')
    if (arrived) book.close(effect, 'aborted', 'yes')
    else book.close(effect, this.#shape.honoursSignal ? 'aborted' : 'unknown', 'unknown')
    throw new Ended()
  }

  /** A plain call from inside a gate belongs to the run and passes its gates. True where it failed without ending the run. */
  #callInside(path: string, inside: readonly string[]): boolean {
    try {
      this.#generate(path, inside, true)
      return false
    } catch (thrown) {
      if (thrown instanceof Reentered) return true
      if (thrown instanceof Ended) return false
      throw thrown
    }
  }
}
