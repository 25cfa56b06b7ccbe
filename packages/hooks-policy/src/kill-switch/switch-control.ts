import type { AppendLog, DocumentKey, Documents, JsonObject, JsonValue } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { isOver } from './judge-rows.js'
import { ALL_KEY, isTargetName, MARKER_KEY, MAX_NAME, parseRow, rowKey } from './switch-row.js'
import type { SwitchKind, SwitchRow, SwitchTarget } from './switch-row.js'

/** Who changes the switch, and why. Texts of 1 to 1 000 characters. */
export interface SwitchChange {
  readonly who: string
  readonly reason: string
}

/** A row as an operator reads it. */
export interface SwitchStatus {
  readonly kind: SwitchKind
  /** Code or name; empty for everything. */
  readonly name: string
  /** `missing` stands for everything only, and stops like `on`; `unreadable` stops too. */
  readonly state: 'on' | 'off' | 'expired' | 'missing' | 'unreadable'
  readonly row: SwitchRow | null
}

/** Sets and reads the switch, over any store, in any process. */
export interface SwitchControl {
  /**
   * Switches a target off limits, until `expiresInMs` later by the store's time where that is given.
   * @throws INVALID_CONFIG; what the store throws
   */
  on(target: SwitchTarget, change: SwitchChange & { readonly expiresInMs?: number }): Promise<SwitchRow>
  /** Lets a target run again. @throws INVALID_CONFIG; what the store throws */
  off(target: SwitchTarget, change: SwitchChange): Promise<SwitchRow>
  /** The row for everything first, then all others that were ever set, by kind and name. */
  status(): Promise<readonly SwitchStatus[]>
}

/** The stream that every change is recorded in: `{ action, kind, name, who, reason, at, expiresAt }`. */
export const SWITCH_STREAM = 'switch'

const MAX_TEXT = 1_000
const PAGE = 1_000

/** @see SwitchControl */
export function createSwitchControl(documents: Documents, log: AppendLog): SwitchControl {
  return {
    async on(target, { who, reason, expiresInMs }) {
      const place = parseTarget(target)
      checkChange({ who, reason })
      if (expiresInMs !== undefined && !(Number.isFinite(expiresInMs) && expiresInMs > 0))
        throw refused('expiresInMs', 'must be a number of milliseconds above 0')
      // the stop comes first: should its record fail, it stands all the same
      const row = await write(documents, place, (at) => ({
        on: true,
        who,
        reason,
        at,
        expiresAt: expiresInMs === undefined ? null : at + expiresInMs,
      }))
      await record(log, 'on', place, row)
      return row
    },
    async off(target, { who, reason }) {
      const place = parseTarget(target)
      checkChange({ who, reason })
      // the record comes first: nothing is let run again without one
      await record(log, 'off', place, { on: false, who, reason, at: 0, expiresAt: null })
      return write(documents, place, (at) => ({ on: false, who, reason, at, expiresAt: null }))
    },
    async status() {
      const read = await documents.transact([MARKER_KEY, ALL_KEY], (current, at) => ({
        next: current,
        result: { all: current[1], at },
      }))
      const { all, at } = read
      const found: SwitchStatus[] = [statusOf('all', '', all, at)]
      let after: string | undefined
      do {
        const page = await documents.list(['row'], { limit: PAGE, ...(after === undefined ? {} : { after }) })
        for (const { key, value } of page.items) {
          const [, kind, name] = key
          if (name !== undefined) found.push(statusOf(kind as SwitchKind, name, value, at))
        }
        after = page.next ?? undefined
      } while (after !== undefined)
      return found
    },
  }
}

/** Prepares the row for everything, where neither it nor its marker was ever there. */
export async function prepareRows(documents: Documents): Promise<void> {
  await documents.transact([MARKER_KEY, ALL_KEY], (current, at) => {
    const [marker, all] = current
    if (marker !== undefined || all !== undefined) return { next: current, result: undefined }
    const row: SwitchRow = { on: false, who: 'hooks-policy', reason: 'first start', at, expiresAt: null }
    return { next: [{ at }, row as unknown as JsonObject], result: undefined }
  })
}

interface ParsedTarget {
  readonly kind: SwitchKind
  readonly name: string
  readonly key: DocumentKey
}

function parseTarget(target: SwitchTarget): ParsedTarget {
  if (target === 'all') return { kind: 'all', name: '', key: ALL_KEY }
  const entries = target !== null && typeof target === 'object' ? Object.entries(target) : []
  const [kind, name] = (entries.length === 1 ? entries[0] : []) as [string?, unknown?]
  if (kind !== 'agent' && kind !== 'tool' && kind !== 'user' && kind !== 'tenant')
    throw refused('target', "must be 'all', or one of { agent }, { tool }, { user } and { tenant }")
  if (!isTargetName(name)) throw refused(`target.${kind}`, `must be a well-formed text of 1 to ${MAX_NAME} characters`)
  return { kind, name, key: rowKey(kind, name) }
}

function checkChange(change: SwitchChange): void {
  for (const name of ['who', 'reason'] as const) {
    const text: unknown = change[name]
    if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_TEXT)
      throw refused(name, `must be a text of 1 to ${MAX_TEXT} characters`)
  }
}

async function write(
  documents: Documents,
  { key, kind }: ParsedTarget,
  make: (at: number) => SwitchRow,
): Promise<SwitchRow> {
  return documents.transact([MARKER_KEY, key], (current, at) => {
    const row = make(at)
    const [marker] = current
    // a narrow row that an operator sets before the first start leaves the row for everything to that start
    const nextMarker = kind === 'all' ? (marker ?? { at }) : marker
    return { next: [nextMarker, row as unknown as JsonObject], result: row }
  })
}

async function record(log: AppendLog, action: string, place: ParsedTarget, row: SwitchRow): Promise<void> {
  const { kind, name } = place
  const { who, reason, expiresAt } = row
  await log.append(SWITCH_STREAM, (_tail, at) => [{ action, kind, name, who, reason, at, expiresAt }])
}

function statusOf(kind: SwitchKind, name: string, value: JsonValue | undefined, at: number): SwitchStatus {
  const row = parseRow(value)
  if (row === 'absent') return { kind, name, state: 'missing', row: null }
  if (row === 'unreadable') return { kind, name, state: 'unreadable', row: null }
  return { kind, name, state: !row.on ? 'off' : isOver(row, at) ? 'expired' : 'on', row }
}

function refused(field: string, fault: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', `The change of the kill switch is not acceptable: ${field} ${fault}.`, {
    reason: 'kill_switch.change',
    details: { field },
  })
}
