import type { GateStop } from '../hooks/answer-kind.js'
import type { Ending } from './effect.js'

/** How a handler came to its end, on the side of its result: what the closing observers and the loop have to know. */
export interface HandlerEnd {
  ending: Ending
  /** Set where the run ends: the error that leaves it. */
  thrown: { readonly error: unknown } | undefined
  /** Set where the handler itself threw a `Veto`. */
  veto: GateStop | undefined
}
