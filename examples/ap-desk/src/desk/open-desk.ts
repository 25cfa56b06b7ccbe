import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalNumbers } from './approval-numbers.js'
import { openApprovalNumbers } from './approval-numbers.js'
import type { Books } from './books.js'
import { openBooks } from './books.js'
import type { ControlTable } from './control-table.js'
import { APPROVALS_ENABLED, openControlTable } from './control-table.js'
import type { DeskKeys } from './desk-keys.js'
import { createDeskKeys } from './desk-keys.js'

/** The accounts-payable desk with its data, in a temporary folder. */
export interface Desk {
  readonly books: Books
  readonly numbers: ApprovalNumbers
  readonly controls: ControlTable
  /** What records of the guards are sealed and signed with. */
  readonly keys: DeskKeys
  /** Everything of the desk lies below it. */
  readonly folder: string
  /** Files for plugins, which open connections of their own. */
  readonly files: { readonly books: string; readonly controls: string }
  /** Where the runtime keeps its records. */
  readonly storeFolder: string
  /** Closes everything and removes the folder. */
  close(): void
}

/** Opens a desk in its first state: five invoices, one of them approved under 1000, approvals switched on. */
export function openDesk(): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'ap-desk-'))
  const files = { books: join(folder, 'books.db'), controls: join(folder, 'controls.db') }
  const books = openBooks(files.books)
  const controls = openControlTable(files.controls)
  const numbers = openApprovalNumbers(join(folder, 'numbers.db'))
  controls.write(APPROVALS_ENABLED, 'Y')
  return {
    books,
    numbers,
    controls,
    keys: createDeskKeys(),
    folder,
    files,
    storeFolder: join(folder, 'sluice'),
    close() {
      for (const part of [books, controls, numbers]) part.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
