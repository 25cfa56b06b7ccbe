import type { Receipt } from '../hooks/receipt.js'

/** The receipt, frozen all the way down: what is handed out is shared by all who are told. */
export function frozenReceipt(receipt: Receipt): Receipt {
  for (const asking of receipt.askings) {
    for (const gate of asking.gates) Object.freeze(gate)
    Object.freeze(asking.gates)
    Object.freeze(asking)
  }
  return receipt
}
