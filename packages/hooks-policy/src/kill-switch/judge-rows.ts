import { Veto } from '@sluice/core'
import type { RowsRead } from './shared-rows.js'
import { parseRow, rowKey } from './switch-row.js'
import type { SwitchKind, SwitchRow } from './switch-row.js'

/** One row that a call falls under. */
export interface Place {
  readonly kind: SwitchKind
  /** Code or name; empty for everything. */
  readonly name: string
}

/**
 * Throws where one of the rows stops the call: `KILL_SWITCH_ON`, or `KILL_SWITCH_UNREADABLE` where something stands there
 * that is no row. The row for everything has to be there; a narrower one that is not there is off.
 */
export function judgeRows(places: readonly Place[], rows: RowsRead): void {
  for (const place of places) {
    const row = parseRow(rows.get(rowKey(place.kind, place.name)))
    if (row === 'unreadable')
      throw new Veto('KILL_SWITCH_UNREADABLE', `What stands for ${said(place)} in the kill switch is no row of it.`, {
        target: place.kind,
        name: place.name,
      })
    if (row === 'absent') {
      if (place.kind !== 'all') continue
      throw new Veto('KILL_SWITCH_ON', 'Everything is switched off: the row for it is gone from the store.', {
        target: 'all',
        name: '',
        missing: true,
      })
    }
    if (row.on && !isOver(row, rows.at)) throw switchedOff(place, row)
  }
}

/** Whether a row has expired; without the store's time it has not. */
export function isOver(row: SwitchRow, at: number | undefined): boolean {
  return row.expiresAt !== null && at !== undefined && row.expiresAt <= at
}

function switchedOff(place: Place, row: SwitchRow): Veto {
  const { who, reason, at, expiresAt } = row
  return new Veto('KILL_SWITCH_ON', `${said(place)} is switched off by ${who}: ${reason}`, {
    target: place.kind,
    name: place.name,
    who,
    reason,
    since: at,
    expiresAt,
  })
}

function said({ kind, name }: Place): string {
  return kind === 'all' ? 'Everything' : `${kind} ${JSON.stringify(name)}`
}
