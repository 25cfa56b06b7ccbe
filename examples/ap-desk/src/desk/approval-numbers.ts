import Database from 'libsql'

/** The counter that approval numbers are drawn from. A number that was drawn does not come back. */
export interface ApprovalNumbers {
  /** Draws the next number, for good: no rollback of the books undoes it. */
  next(): number
  /** The last number that was drawn. */
  last(): number
  close(): void
}

/**
 * Opens the counter in a database file of its own. It cannot stand in the file of the books: while a run has its transaction
 * open there, a second connection is locked out, and inside that transaction a rollback would bring the number back.
 */
export function openApprovalNumbers(file: string): ApprovalNumbers {
  const database = new Database(file)
  database.exec(`
    CREATE TABLE IF NOT EXISTS approval_numbers (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL);
    INSERT OR IGNORE INTO approval_numbers VALUES (1, 1000);
  `)
  const read = (sql: string) => (database.prepare(sql).all() as { last: number }[])[0]?.last ?? 0
  return {
    next: () => read('UPDATE approval_numbers SET last = last + 1 RETURNING last'),
    last: () => read('SELECT last FROM approval_numbers'),
    close: () => void database.close(),
  }
}
