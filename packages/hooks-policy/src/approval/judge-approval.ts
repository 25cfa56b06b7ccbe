import type { Decision, JsonObject, JsonValue } from '@sluice/core'
import type { PolicyCode } from '../policy-codes.js'
import { digestOf } from './approval-digest.js'
import { gatesHold } from './bound-gates.js'
import type { ApprovalDecision, ApprovalRecord, ApprovalState } from './approval-record.js'

/** The part of a binding that may grow. */
const GATES = 'gatePlugins'

/** What is known of a call when its gate is asked. */
export interface ApprovalFacts {
  readonly rootExecutionId: string
  readonly effectId: string
  readonly attempt: number
  readonly binding: Readonly<Record<string, string>>
  readonly shown: string
  /** The answer that the runtime has for this call, to whatever question. */
  readonly decision: Decision | undefined
  /** Whether the one who gave it may. */
  readonly mayDecide: boolean
}

/** What the gate answers. */
export type ApprovalVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'pause'; readonly record: ApprovalRecord; readonly refused: ApprovalDecision | null }
  | { readonly kind: 'refuse'; readonly code: PolicyCode; readonly record: ApprovalRecord }
  | { readonly kind: 'stop'; readonly code: PolicyCode; readonly details: JsonObject }

/** The next record (the same one where nothing changes), the next number of questions, and the verdict. */
export interface ApprovalStep {
  readonly record: ApprovalRecord | undefined
  readonly asks: number
  readonly verdict: ApprovalVerdict
}

export interface ApprovalBounds {
  readonly expiresIn: number
  readonly maxAsks: number
}

/**
 * Judges one asking: pure, so that it can stand in one `transact`. The record goes from pending to granted, denied or expired,
 * and from granted to consumed. An answer counts for the question that was open when it came, once; asked again for the same
 * attempt, it says the same.
 */
export function judgeApproval(
  current: ApprovalRecord | undefined,
  asks: number,
  at: number,
  facts: ApprovalFacts,
  bounds: ApprovalBounds,
): ApprovalStep {
  const keep = (verdict: ApprovalVerdict): ApprovalStep => ({ record: current, asks, verdict })
  const ask = (refused: ApprovalDecision | null): ApprovalStep => newQuestion(current, asks, at, facts, bounds, refused)
  if (current === undefined) return ask(null)
  const differs = differences(current, facts)
  switch (current.state) {
    case 'denied':
      return keep({ kind: 'refuse', code: 'DENIED', record: current })
    case 'expired':
      return keep({ kind: 'refuse', code: 'APPROVAL_EXPIRED', record: current })
    case 'consumed':
      if (current.consumed?.attempt !== facts.attempt) return keep(stop('APPROVAL_REPLAYED', current, {}))
      return keep(differs.length > 0 ? stop('APPROVAL_ALTERED', current, { differs }) : { kind: 'pass' })
    case 'granted':
      if (onlyGates(differs)) return ask(null)
      return differs.length > 0 ? keep(stop('APPROVAL_ALTERED', current, { differs })) : use(current, asks, at, facts)
    default:
      return judgePending({ current, asks, at, facts, differs, ask, keep })
  }
}

interface Pending {
  readonly current: ApprovalRecord
  readonly asks: number
  readonly at: number
  readonly facts: ApprovalFacts
  readonly differs: readonly string[]
  ask(refused: ApprovalDecision | null): ApprovalStep
  keep(verdict: ApprovalVerdict): ApprovalStep
}

function judgePending({ current, asks, at, facts, differs, ask, keep }: Pending): ApprovalStep {
  const answer = freshAnswer(current, facts.decision)
  const late = at >= current.expiresAt
  if (answer === undefined) {
    if (late) return settle(current, asks, 'expired', null)
    return differs.length > 0 ? ask(null) : keep({ kind: 'pause', record: current, refused: null })
  }
  if (ranOut(current, answer)) return settle(current, asks, 'expired', null)
  if (!facts.mayDecide) return late ? settle(current, asks, 'expired', null) : ask(answer)
  if (answer.decision === 'deny') return settle(current, asks, 'denied', answer)
  // an operator has let the run go on under other gates: the human answered under the old ones, and is asked anew
  if (onlyGates(differs)) return ask(null)
  if (differs.length > 0) return keep(stop('APPROVAL_ALTERED', { ...current, decision: answer }, { differs }))
  return use({ ...current, state: 'granted', decision: answer }, asks, at, facts)
}

/** The answer of the runtime, where it is one to the question that is open. */
function freshAnswer(current: ApprovalRecord, decision: Decision | undefined): ApprovalDecision | undefined {
  if (decision === undefined || current.used.includes(stampOf(decision))) return undefined
  const { decision: said, by, note, at } = decision
  return { decision: said, by, note, at }
}

/** The runtime's own answer where nobody gave one in time. */
function ranOut(current: ApprovalRecord, answer: ApprovalDecision): boolean {
  return answer.decision === 'deny' && answer.by === 'expiry' && answer.at === current.expiresAt
}

function use(granted: ApprovalRecord, asks: number, at: number, facts: ApprovalFacts): ApprovalStep {
  if (at >= granted.expiresAt) return settle(granted, asks, 'expired', granted.decision)
  const record: ApprovalRecord = { ...granted, state: 'consumed', consumed: { attempt: facts.attempt, at } }
  return { record, asks, verdict: { kind: 'pass' } }
}

function settle(
  current: ApprovalRecord,
  asks: number,
  state: ApprovalState & ('denied' | 'expired'),
  decision: ApprovalDecision | null,
): ApprovalStep {
  const record: ApprovalRecord = { ...current, state, decision }
  const code = state === 'denied' ? 'DENIED' : 'APPROVAL_EXPIRED'
  return { record, asks, verdict: { kind: 'refuse', code, record } }
}

function newQuestion(
  current: ApprovalRecord | undefined,
  asks: number,
  at: number,
  facts: ApprovalFacts,
  bounds: ApprovalBounds,
  refused: ApprovalDecision | null,
): ApprovalStep {
  if (asks >= bounds.maxAsks) {
    const details = { asks, maxAsks: bounds.maxAsks }
    return { record: current, asks, verdict: { kind: 'stop', code: 'APPROVAL_LIMIT', details } }
  }
  const used = [...(current?.used ?? [])]
  if (facts.decision !== undefined) {
    const stamp = stampOf(facts.decision)
    if (!used.includes(stamp)) used.push(stamp)
  }
  const record: ApprovalRecord = {
    state: 'pending',
    rootExecutionId: facts.rootExecutionId,
    effectId: facts.effectId,
    ask: (current?.ask ?? 0) + 1,
    askedAt: at,
    expiresAt: at + bounds.expiresIn,
    binding: facts.binding,
    shown: facts.shown,
    decision: null,
    used,
    consumed: null,
  }
  return { record, asks: asks + 1, verdict: { kind: 'pause', record, refused } }
}

function onlyGates(differs: readonly string[]): boolean {
  return differs.length === 1 && differs[0] === GATES
}

/** Gates that came since can only stop more; one that is gone, or has another version or other options, is a difference. */
function fits(name: string, bound: string | undefined, now: string | undefined): boolean {
  return bound === now || (name === GATES && bound !== undefined && now !== undefined && gatesHold(bound, now))
}

/** Names of the parts in which the call is another one than the one that was asked about. */
function differences(current: ApprovalRecord, facts: ApprovalFacts): readonly string[] {
  const names = [...new Set([...Object.keys(current.binding), ...Object.keys(facts.binding)])].sort()
  const value = (binding: Readonly<Record<string, string>>, name: string) =>
    Object.hasOwn(binding, name) ? binding[name] : undefined
  const differs = names.filter((name) => !fits(name, value(current.binding, name), value(facts.binding, name)))
  return current.shown === facts.shown || differs.length > 0 ? differs : ['shown']
}

function stop(code: PolicyCode, { state, decision, consumed }: ApprovalRecord, more: JsonObject): ApprovalVerdict {
  const details: JsonObject = {
    state,
    by: decision?.by ?? null,
    decidedAt: decision?.at ?? null,
    usedAt: consumed?.at ?? null,
    ...more,
  }
  return { kind: 'stop', code, details }
}

function stampOf({ decision, by, note, at }: Decision): string {
  return digestOf({ decision, by, note, at } as JsonValue)
}
