import type { JsonObject } from '../../internal/json.js'
import { checkId } from '../embedded/check-key.js'
import { ownCell } from '../embedded/create-documents.js'
import { freeReference } from '../embedded/free-reference.js'
import { checkStrings, type SoundItems } from '../embedded/well-formed.js'
import type { JournalRepository, ReceiptRepository, ToolErrorRepository } from '../store.js'
import type { FolderGround } from './folder-ground.js'

/** Receipts in a folder. */
export function createFolderReceipts(ground: FolderGround): ReceiptRepository {
  const sound: SoundItems = new WeakSet()
  return {
    async append(rootExecutionId, receipts) {
      ground.check()
      checkId(rootExecutionId, 'The id of a root execution')
      for (const receipt of receipts) checkStrings(receipt, 'A receipt', sound)
      await ground.write((batch) => batch.addReceipts(rootExecutionId, receipts))
    },
    async list(rootExecutionId) {
      ground.check()
      checkId(rootExecutionId, 'The id of a root execution')
      const waiting = ground.state.receiptsInLayers(rootExecutionId)
      return [...(await ground.reader.receipts(rootExecutionId)), ...waiting]
    },
  }
}

/** Journals of paused runs in a folder, a document each. */
export function createFolderJournals(ground: FolderGround): JournalRepository {
  const cellOf = (id: string) => ownCell('journals', checkId(id, 'The id of a root execution'))
  return {
    async put(rootExecutionId, journal) {
      ground.check()
      const cell = cellOf(rootExecutionId)
      checkStrings(journal, 'The journal')
      await ground.write((batch) => batch.write([{ cell, value: journal }], []))
    },
    async get(rootExecutionId) {
      ground.check()
      return (await ground.read([cellOf(rootExecutionId)]))[0] as JsonObject | undefined
    },
    async delete(rootExecutionId) {
      ground.check()
      const cell = cellOf(rootExecutionId)
      await ground.write((batch) => {
        if (batch.has(cell)) batch.write([{ cell, value: undefined }], [])
      })
    },
  }
}

/** The error log in a folder. */
export function createFolderToolErrors(ground: FolderGround): ToolErrorRepository {
  return {
    async insert(record) {
      ground.check()
      checkId(record.reference, 'An error reference')
      checkStrings(record, 'The error')
      return ground.write((batch) => {
        const reference = freeReference(record.reference, (taken) => batch.hasError(taken))
        batch.insertError(reference === record.reference ? record : { ...record, reference })
        return reference
      })
    },
    async get(reference) {
      ground.check()
      checkId(reference, 'An error reference')
      const waiting = ground.state.layers.find((layer) => layer.errors.has(reference))
      if (waiting !== undefined) return waiting.errors.get(reference)
      const place = ground.state.errorPlaces.get(reference)
      return place === undefined ? undefined : ground.reader.toolError(reference, place)
    },
  }
}
