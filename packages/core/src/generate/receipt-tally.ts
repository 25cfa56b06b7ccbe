import type { ReceiptCounts } from '../errors/sluice-error.js'
import type { Asking, GateReceipt, Receipt } from '../hooks/receipt.js'
import type { JsonObject } from '../internal/json.js'

/** Counts over the receipts of a tree, in the form in which a pause stores them. */
export interface TallySnapshot {
  readonly effects: number
  readonly asked: number
  readonly passed: number
  readonly stopped: number
}

/** The receipts of a tree: counted when an effect is closed, kept until they are stored, and the one of the stop for good. */
export class ReceiptTally {
  /** Receipts that wait for the next record of the tree. */
  waiting: Receipt[] = []
  readonly #counts = { effects: 0, asked: 0, passed: 0, stopped: 0 }
  #stop: Receipt | undefined

  add(receipt: Receipt): void {
    const counts = this.#counts
    counts.effects += 1
    for (let index = 0; index < receipt.askings.length; index++) {
      const { gates } = receipt.askings[index] as Asking
      for (let place = 0; place < gates.length; place++) {
        const gate = gates[place] as GateReceipt
        if (gate.answer === 'not_asked') continue
        counts.asked += 1
        if (gate.answer === 'passed' || gate.answer === 'would_veto') counts.passed += 1
        else counts.stopped += 1
      }
    }
    // the effect that was stopped comes first, the run that ended with it last
    if (receipt.outcome === 'stopped') this.#stop ??= receipt
    this.waiting.push(receipt)
  }

  /** The receipt of the effect that the run ended with, where its outcome does not say so. */
  keepStop(receipt: Receipt): void {
    this.#stop ??= receipt
  }

  counts(): ReceiptCounts {
    return this.#stop === undefined
      ? { ...this.#counts }
      : { ...this.#counts, stop: this.#stop as unknown as JsonObject }
  }

  snapshot(): TallySnapshot {
    return { ...this.#counts }
  }

  restore(snapshot: TallySnapshot): void {
    Object.assign(this.#counts, snapshot)
  }
}
