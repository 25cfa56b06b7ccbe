import type { ContractRow } from './contract-row.js'
import { engineJournalRows } from './engine-journal-rows.js'
import type { MakeEngine } from './engine-rig.js'
import { rowsOf } from './engine-rig.js'
import { engineStepRows } from './engine-step-rows.js'

/** The rules that every engine keeps (design 4.8). `describeEngine` runs them under vitest. */
export function engineRows(makeEngine: MakeEngine): readonly ContractRow[] {
  const row = rowsOf(makeEngine)
  return [...engineStepRows(row), ...engineJournalRows(row, makeEngine)]
}
