import type { DocumentKey, JsonValue } from '@sluice/core'
import type { Ledger } from './ledger.js'
import { openLedger, permitOf, renew, settle, standing, take, toDocument, waitMs } from './ledger.js'
import type { LimitRule } from './limit-rule.js'
import type { Entered, Room } from './room.js'

/** How soon to ask again for a slot: nobody knows when one is given back, and a lease bounds it. */
const SLOT_RETRY_MS = 1_000

/** Takes a permit of `amount`, once for an id however often it is asked. */
export function admission(rule: LimitRule, key: DocumentKey, id: string, amount: number): Room {
  return {
    key,
    enter(current, at) {
      const ledger = openLedger(current, at, rule)
      const held = permitOf(ledger, id)
      if (held !== undefined) return asked(rule, ledger, current, id, held)
      const wait = waitMs(ledger, amount)
      const untouched = ledger.rewound ? toDocument(ledger) : current
      if (wait !== 0) return { refusal: refusalOf(rule, ledger, amount, wait), taken: untouched, untouched }
      take(ledger, id, amount)
      return { taken: toDocument(ledger), untouched }
    },
  }
}

/** Asked again, it answers again; a slot is held a whole lease from here. */
function asked(
  rule: LimitRule,
  ledger: Ledger,
  current: JsonValue | undefined,
  id: string,
  held: { readonly amount: number; readonly end: number },
): Entered {
  const untouched = ledger.rewound ? toDocument(ledger) : current
  if (!rule.inFlight || held.end === ledger.now + rule.spanMs) return { taken: untouched, untouched }
  renew(ledger, id, held.amount)
  return { taken: toDocument(ledger), untouched }
}

/** Holds a slot for another lease; one that has lapsed is taken again, also above the limit: it is under way. */
export function renewal(rule: LimitRule, key: DocumentKey, id: string, amount: number): Room {
  return {
    key,
    enter(current, at) {
      const ledger = openLedger(current, at, rule)
      renew(ledger, id, amount)
      const next = toDocument(ledger)
      return { taken: next, untouched: next }
    },
  }
}

/**
 * Closes a permit: a slot becomes free, of a rate `actual` stays until its span is over. Without `actual` what was taken
 * stays. A permit that is not there, never taken or closed before, changes nothing.
 */
export function closing(rule: LimitRule, key: DocumentKey, id: string, actual: number | undefined): Room {
  return {
    key,
    enter(current, at) {
      if (current === undefined) return { taken: undefined, untouched: undefined }
      const ledger = openLedger(current, at, rule)
      const permit = permitOf(ledger, id)
      if (permit === undefined) return { taken: current, untouched: current }
      settle(ledger, permit, rule.inFlight ? 0 : (actual ?? permit.amount))
      const next = toDocument(ledger)
      return { taken: next, untouched: next }
    },
  }
}

function refusalOf(rule: LimitRule, ledger: Ledger, asked: number, wait: number | undefined): Entered['refusal'] {
  return {
    limit: rule.name,
    retryAfterMs: wait === undefined ? undefined : rule.inFlight ? Math.min(SLOT_RETRY_MS, wait) : wait,
    wait: rule.wait,
    bound: rule.bound,
    max: rule.max,
    used: standing(ledger),
    asked,
  }
}
