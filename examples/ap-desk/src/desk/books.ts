import { existsSync } from 'node:fs'
import type { UnitOfWork } from '@sluice/core'
import Database from 'libsql'

/** An invoice as the desk sees it. */
export interface Invoice {
  readonly invoice: string
  readonly vendor: string
  readonly amountCents: number
  readonly currency: string
  readonly dueOn: string
  readonly status: 'open' | 'approved'
  readonly period: string
}

/** A vendor. Nothing is approved for a blocked one. */
export interface Vendor {
  readonly vendor: string
  readonly name: string
  readonly blocked: boolean
}

/** What {@link BooksTransaction.changeBankAccount} found and left. */
export interface BankAccountChange {
  readonly before: string
  readonly after: string
}

/** What tool handlers get: reads and writes in the one transaction that the caller of the run has opened. */
export interface BooksTransaction {
  invoice(invoice: string): Invoice | undefined
  vendor(vendor: string): Vendor | undefined
  openInvoices(vendor: string): readonly Invoice[]
  insertApproval(approvalNo: number, invoice: string, clerk: string): void
  /** Posts to the ledger. Fails with the database's own error where the period is closed. */
  postToLedger(approvalNo: number, invoice: Invoice): void
  markApproved(invoice: string): void
  /** `undefined` where there is no such vendor. */
  changeBankAccount(vendor: string, iban: string): BankAccountChange | undefined
}

/** The books: invoices, vendors, approvals, ledger. */
export interface Books extends UnitOfWork<BooksTransaction> {
  commit(transaction: BooksTransaction): void
  rollback(transaction: BooksTransaction): void
  /** Rows of the approvals that are committed. */
  countApprovals(): number
  /** The committed state of an invoice. */
  findInvoice(invoice: string): Invoice | undefined
  /** The committed bank account of a vendor: where its invoices are paid to. */
  bankAccountOf(vendor: string): string | undefined
  /** Closes a period: from then on the ledger takes no posting in it. */
  closePeriod(period: string): void
  close(): void
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE ap_vendors (
    vendor TEXT PRIMARY KEY, name TEXT NOT NULL, blocked INTEGER NOT NULL, iban TEXT NOT NULL);
  CREATE TABLE ap_invoices (
    invoice TEXT PRIMARY KEY, vendor TEXT NOT NULL REFERENCES ap_vendors, amount_cents INTEGER NOT NULL,
    currency TEXT NOT NULL, due_on TEXT NOT NULL, status TEXT NOT NULL, period TEXT NOT NULL);
  CREATE TABLE ap_approvals (
    approval_no INTEGER PRIMARY KEY, invoice TEXT NOT NULL REFERENCES ap_invoices, clerk TEXT NOT NULL);
  CREATE TABLE ap_closed_periods (period TEXT PRIMARY KEY);
  CREATE TABLE ap_ledger_postings (
    approval_no INTEGER NOT NULL REFERENCES ap_approvals, amount_cents INTEGER NOT NULL, period TEXT NOT NULL);
  CREATE TRIGGER ap_ledger_postings_closed BEFORE INSERT ON ap_ledger_postings
    WHEN EXISTS (SELECT 1 FROM ap_closed_periods WHERE period = NEW.period)
    BEGIN SELECT RAISE(ABORT, 'AP_LEDGER_POSTINGS.PERIOD is closed'); END;
  INSERT INTO ap_vendors VALUES
    ('V-77', 'Nordwind Paper', 0, 'DE89370400440532013000'), ('V-31', 'Harbour Freight', 1, 'FI2112345600000785');
  INSERT INTO ap_invoices VALUES
    ('INV-1001', 'V-77',   80000, 'EUR', '2026-01-15', 'approved', '2026-01'),
    ('INV-1002', 'V-77',  125000, 'EUR', '2026-01-31', 'open', '2026-01'),
    ('INV-1003', 'V-77',    9950, 'EUR', '2026-02-07', 'open', '2026-02'),
    ('INV-1004', 'V-31',   64000, 'EUR', '2026-01-31', 'open', '2026-01'),
    ('INV-2040', 'V-77', 4800000, 'EUR', '2026-01-31', 'open', '2026-01');
  INSERT INTO ap_approvals VALUES (1000, 'INV-1001', 'petra.k');
`

const INVOICE =
  'SELECT invoice, vendor, amount_cents AS amountCents, currency, due_on AS dueOn, status, period FROM ap_invoices'

/** Opens the books in a database file; a new one gets its tables and a few invoices. */
export function openBooks(file: string): Books {
  const isNew = !existsSync(file)
  const database = new Database(file)
  if (isNew) database.exec(SCHEMA)
  // each transaction has a connection of its own, so that two runs never share one
  const open = new Map<BooksTransaction, { connection: Database.Database; nextMayBegin: () => void }>()
  let turn = Promise.resolve()
  const end = (transaction: BooksTransaction, how: 'COMMIT' | 'ROLLBACK') => {
    const entry = open.get(transaction)
    if (entry === undefined) throw new Error('This transaction has ended already.')
    open.delete(transaction)
    try {
      entry.connection.exec(how)
    } finally {
      entry.connection.close()
      entry.nextMayBegin()
    }
  }
  return {
    async begin() {
      // SQLite has one writer at a time: the next transaction of this process waits for its turn instead of failing
      const before = turn
      let nextMayBegin = () => {}
      turn = new Promise((resolve) => {
        nextMayBegin = resolve
      })
      await before
      try {
        const connection = new Database(file)
        connection.exec('BEGIN IMMEDIATE')
        const transaction = transactionOn(connection)
        open.set(transaction, { connection, nextMayBegin })
        return transaction
      } catch (error) {
        nextMayBegin()
        throw error
      }
    },
    commit: (transaction) => end(transaction, 'COMMIT'),
    rollback: (transaction) => end(transaction, 'ROLLBACK'),
    countApprovals: () =>
      (database.prepare('SELECT count(*) AS n FROM ap_approvals').all() as { n: number }[])[0]?.n ?? 0,
    findInvoice: (invoice) => findInvoice(database, invoice),
    bankAccountOf: (vendor) => findBankAccount(database, vendor),
    closePeriod: (period) => void database.prepare('INSERT OR IGNORE INTO ap_closed_periods VALUES (?)').run(period),
    close() {
      for (const { connection } of open.values()) connection.close()
      database.close()
    },
  }
}

function transactionOn(connection: Database.Database): BooksTransaction {
  const run = (sql: string, ...values: unknown[]) => void connection.prepare(sql).run(...values)
  return {
    invoice: (invoice) => findInvoice(connection, invoice),
    vendor(vendor) {
      const rows = connection.prepare('SELECT vendor, name, blocked FROM ap_vendors WHERE vendor = ?').all(vendor)
      const row = (rows as { vendor: string; name: string; blocked: number }[])[0]
      return row && { ...row, blocked: row.blocked === 1 }
    },
    openInvoices: (vendor) =>
      connection.prepare(`${INVOICE} WHERE vendor = ? AND status = 'open' ORDER BY invoice`).all(vendor) as Invoice[],
    insertApproval: (...row) => run('INSERT INTO ap_approvals VALUES (?, ?, ?)', ...row),
    postToLedger: (approvalNo, { amountCents, period }) =>
      run('INSERT INTO ap_ledger_postings VALUES (?, ?, ?)', approvalNo, amountCents, period),
    markApproved: (invoice) => run(`UPDATE ap_invoices SET status = 'approved' WHERE invoice = ?`, invoice),
    changeBankAccount(vendor, iban) {
      const before = findBankAccount(connection, vendor)
      if (before === undefined) return undefined
      run('UPDATE ap_vendors SET iban = ? WHERE vendor = ?', iban, vendor)
      return { before, after: iban }
    },
  }
}

function findInvoice(connection: Database.Database, invoice: string): Invoice | undefined {
  return (connection.prepare(`${INVOICE} WHERE invoice = ?`).all(invoice) as Invoice[])[0]
}

function findBankAccount(connection: Database.Database, vendor: string): string | undefined {
  return (connection.prepare('SELECT iban FROM ap_vendors WHERE vendor = ?').all(vendor) as { iban: string }[])[0]?.iban
}
