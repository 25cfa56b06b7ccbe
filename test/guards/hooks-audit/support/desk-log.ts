import type { Store } from '@sluice/core'
import { createHookBench, createMemoryStore } from '@sluice/core'
import type { AuditEntry, AuditOptions } from '@sluice/hooks-audit'
import { audit, AUDIT_PLUGIN, exportLog } from '@sluice/hooks-audit'
import { capturedLogger, fakeClock, fakeIds } from '@sluice/testkit'

/** Where the plugin keeps what it writes. */
export const NAMESPACE = `plugin:${AUDIT_PLUGIN}`

/** The plugin as runs ask it, on a store, with no run. */
export async function auditBench(options: AuditOptions = {}, store: Store = createMemoryStore({ clock: fakeClock() })) {
  const bench = await createHookBench([audit(options)], {
    store,
    clock: fakeClock(),
    ids: fakeIds(),
    logger: capturedLogger(),
  })
  return {
    store,
    bench,
    /** Writes the intent of one run; the gate has to pass. */
    async intent(run: string, createdBy = 'petra.k') {
      const { answer, error } = await bench.ask('beforeExecution', { rootExecutionId: run, effectId: run, createdBy })
      if (answer !== 'passed') throw error ?? new Error(answer)
    },
    async entries(log = 'audit'): Promise<readonly AuditEntry[]> {
      return (await store.log(NAMESPACE).read(log)).map(({ value }) => value as unknown as AuditEntry)
    },
    /** The log as JSON Lines, as the export writes it. */
    async lines(): Promise<string> {
      let text = ''
      for await (const line of exportLog(store.log(NAMESPACE), 'audit', 'jsonl')) text += line
      return text
    },
  }
}
