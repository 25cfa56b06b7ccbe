import Database from 'libsql'

/** What may be switched without a deployment: one row a switch, `Y` or `N`. */
export const APPROVALS_ENABLED = 'AGENT_APPROVALS_ENABLED'

/** The control table of the desk. */
export interface ControlTable {
  /** The value of a control; `undefined` where there is no such row. Never cached. */
  read(controlCode: string): string | undefined
  write(controlCode: string, controlValue: string): void
  remove(controlCode: string): void
  close(): void
}

/**
 * Opens the control table. It has a database file of its own, so that a switch can be thrown at any time: also while a run
 * holds the lock on the books.
 */
export function openControlTable(file: string): ControlTable {
  const database = new Database(file)
  database.exec('CREATE TABLE IF NOT EXISTS controls (control_code TEXT PRIMARY KEY, control_value TEXT NOT NULL)')
  return {
    read: (code) => {
      const rows = database.prepare('SELECT control_value FROM controls WHERE control_code = ?').all(code)
      return (rows as { control_value: string }[])[0]?.control_value
    },
    write: (code, value) =>
      void database
        .prepare(
          'INSERT INTO controls VALUES (?, ?) ON CONFLICT (control_code) DO UPDATE SET control_value = excluded.control_value',
        )
        .run(code, value),
    remove: (code) => void database.prepare('DELETE FROM controls WHERE control_code = ?').run(code),
    close: () => void database.close(),
  }
}
