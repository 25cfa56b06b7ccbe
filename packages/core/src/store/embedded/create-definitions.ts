import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'
import type { DefinitionRecord } from '../records.js'
import type { DefinitionRepository } from '../store.js'
import type { CellAccess } from './cell-access.js'
import { checkId } from './check-key.js'
import type { DefinitionKind } from './ground.js'
import { snapshotObject } from './snapshot-json.js'

/** Definitions of one kind over `access`. */
export function createDefinitions(access: CellAccess, kind: DefinitionKind): DefinitionRepository {
  return {
    async insert(record) {
      const kept = checkRecord(record)
      await access.changeDefinitions(kind, (table) => ({
        changed: { table: table.insert(kept), records: new Map([[kept.id, kept]]) },
        result: undefined,
      }))
    },
    async replace(record) {
      const kept = checkRecord(record)
      await access.changeDefinitions(kind, (table) => ({
        changed: { table: table.replace(kept), records: new Map([[kept.id, kept]]) },
        result: undefined,
      }))
    },
    async get(id) {
      checkId(id, 'The id of a definition')
      return (await access.table(kind)).get(id)
    },
    async versions(code) {
      checkId(code, 'The code of a definition')
      return [...(await access.table(kind)).versions(code)]
    },
    async list(page = {}) {
      return (await access.table(kind)).page(page)
    },
    async delete(id) {
      checkId(id, 'The id of a definition')
      return access.changeDefinitions(kind, (table) => {
        if (table.get(id) === undefined) return { result: false }
        return { changed: { table: table.without(id), records: new Map([[id, undefined]]) }, result: true }
      })
    },
  }
}

function checkRecord(record: DefinitionRecord): DefinitionRecord {
  checkId(record.id, 'The id of a definition')
  checkId(record.code, 'The code of a definition')
  if (!Number.isSafeInteger(record.version)) {
    throw new SluiceError('INVALID_CONFIG', `The version of '${escapeControl(record.code, 200)}' is no whole number.`, {
      reason: 'store.version',
    })
  }
  return snapshotObject(record, 'A definition')
}
