import { stopCode } from './answer-kind.js'
import type { GateStop } from './answer-kind.js'
import type { AskPoint } from './hook-points.js'
import type { CompiledTap } from './hook-set.js'
import type { GateAnswer, GateReceipt } from './receipt.js'

/** How long a tap has to take for its row to say so, in milliseconds: below that, all its rows are one. */
const SHOWN_MS = 0.05

/** The row of a gate that passed after `ms` milliseconds: the tap's own where it passed at once. */
export function passedRow(point: AskPoint, tap: CompiledTap, ms: number): GateReceipt {
  return ms < SHOWN_MS && tap.passed !== undefined ? tap.passed : row(point, tap, 'passed', ms)
}

/** The row of a gate in the receipt. */
export function row(point: AskPoint, tap: CompiledTap, answer: GateAnswer, ms: number, stop?: GateStop): GateReceipt {
  const code = stop === undefined ? undefined : stopCode(stop)
  return code === undefined
    ? { plugin: tap.plugin, point, stage: tap.stage, answer, ms }
    : { plugin: tap.plugin, point, stage: tap.stage, answer, code, ms }
}
