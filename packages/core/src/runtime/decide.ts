import { SluiceError } from '../errors/sluice-error.js'
import { Faults } from '../errors/faults.js'
import { escapeControl } from '../internal/escape-text.js'
import { inScope, parseScope } from '../sessions/scope.js'
import type { Scope } from '../sessions/scope.js'
import type { DecisionRecord, ExecutionRecord, PendingRecord } from '../store/records.js'
import { knownOptions } from './known-options.js'
import type { RuntimeCore } from './runtime-core.js'

/** A human's answer to one pending effect. */
export interface DecideOptions {
  readonly effectId: string
  readonly decision: 'approve' | 'deny'
  /** Who decided. */
  readonly by: string
  readonly note?: string
  /** The tenant's scope is enough: who decides is not who runs. */
  readonly scope: Scope
}

const KEYS = ['effectId', 'decision', 'by', 'note', 'scope']

/**
 * Records an answer, once, by compare; runs nothing. The gate that paused is asked again at `resume` and judges the answer.
 * @throws NOT_FOUND, NOT_PAUSED (also, with `reason` `decide.expired`, after `expiresAt`), ALREADY_DECIDED, INVALID_CONFIG
 */
export async function decide(core: RuntimeCore, executionId: string, options: DecideOptions): Promise<void> {
  const faults = new Faults()
  const given = knownOptions(options, 'decide', KEYS, faults)
  const { effectId, decision, by, note } = given as unknown as DecideOptions
  if (typeof effectId !== 'string' || effectId === '') faults.add('effectId', 'must be the id of a pending effect')
  if (decision !== 'approve' && decision !== 'deny') faults.add('decision', "must be 'approve' or 'deny'")
  if (typeof by !== 'string' || by.trim() === '') faults.add('by', 'must name who decided')
  if (note !== undefined && typeof note !== 'string') faults.add('note', 'must be a text')
  // with nothing else wrong, the check of the scope says more
  if (faults.list.length > 0 && given.scope === undefined)
    faults.add('scope', 'is missing: give { tenant } or { tenant, user }')
  faults.throwIfAny('The decision is not acceptable', { reason: 'decide.options' })
  const record = await pausedRecord(core, executionId, (given as unknown as DecideOptions).scope)
  let fault: SluiceError | undefined
  const answer = { decision, by, note: note ?? null, at: core.parts.clock.now() }
  await core.parts.store.executions.transition(record.id, (current) => {
    fault = undefined
    if (current.status !== 'paused') fault = notPaused(current, effectId)
    const index = current.pending.findIndex((entry) => entry.effectId === effectId)
    const entry = current.pending[index]
    if (entry === undefined) fault ??= noSuchEffect(current, effectId)
    else if (entry.decision !== null) fault ??= decided(effectId, entry.decision)
    else if (entry.expiresAt !== null && entry.expiresAt <= answer.at) fault ??= expired(current, entry)
    if (fault !== undefined || entry === undefined) return undefined
    return {
      pending: current.pending.map((other, place) => (place === index ? { ...other, decision: answer } : other)),
      decisions: [...current.decisions, { effectId, toolCode: entry.toolCode, ...answer }],
    }
  })
  if (fault !== undefined) throw fault
}

/** The paused top-level run of an id within a scope. @throws NOT_FOUND */
export async function pausedRecord(core: RuntimeCore, executionId: string, scope: Scope): Promise<ExecutionRecord> {
  const checked = parseScope(scope)
  const record = await core.parts.store.executions.get(executionId)
  // the tenant's scope is enough here: a user in it does not narrow
  const visible = record !== undefined && inScope(record, checked === 'all' ? 'all' : { tenant: checked.tenant })
  if (!visible)
    throw new SluiceError('NOT_FOUND', `There is no run ${escapeControl(String(executionId), 100)} in this scope.`, {
      hint: 'Check the id and the scope.',
    })
  if (record.parentExecutionId !== null) {
    throw new SluiceError('NOT_FOUND', `Run ${executionId} is nested; decisions and resumes name its top-level run.`, {
      hint: `Use ${record.rootExecutionId}.`,
    })
  }
  return record
}

/** Says who has decided about the run (about `effectId`, where one is meant), since that is why it is no longer paused. */
export function notPaused(record: ExecutionRecord, effectId?: string): SluiceError {
  const decisions = record.decisions.filter((entry) => effectId === undefined || entry.effectId === effectId)
  const last = decisions.at(-1)
  const told = last === undefined ? '' : ` ${said(last)}`
  return new SluiceError('NOT_PAUSED', `Run ${record.id} is ${record.status}, not paused.${told}`, {
    details: {
      executionId: record.id,
      status: record.status,
      decisions: decisions.map(({ note: _, ...shown }) => shown),
    },
  })
}

function said({ by, decision, effectId, at }: Omit<DecisionRecord, 'toolCode' | 'note'>): string {
  const verb = decision === 'approve' ? 'approved' : 'denied'
  return `${escapeControl(by, 100)} ${verb} ${effectId} at ${new Date(at).toISOString()}.`
}

function noSuchEffect(record: ExecutionRecord, effectId: string): SluiceError {
  return new SluiceError('NOT_FOUND', `Run ${record.id} has no pending effect ${escapeControl(effectId, 200)}.`, {
    hint: `Pending are: ${record.pending.map((entry) => entry.effectId).join(', ') || 'none'}.`,
  })
}

function expired(record: ExecutionRecord, entry: PendingRecord): SluiceError {
  return new SluiceError(
    'NOT_PAUSED',
    `The time to decide about effect ${entry.effectId} of run ${record.id} is over; it counts as denied.`,
    {
      reason: 'decide.expired',
      details: { executionId: record.id, effectId: entry.effectId, expiresAt: entry.expiresAt },
      hint: 'Resume the run, which then goes on without that effect, or cancel it.',
    },
  )
}

function decided(effectId: string, given: NonNullable<PendingRecord['decision']>): SluiceError {
  const { decision, by, at } = given
  return new SluiceError('ALREADY_DECIDED', `This has been decided already: ${said({ by, decision, effectId, at })}`, {
    details: { effectId, decision, by, at },
  })
}
