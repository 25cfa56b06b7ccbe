import type { AppendLog, JsonObject } from '@sluice/core'

const PAGE = 500

/** True where the log holds the outcome of this run. Looks back from the end, no further than to the intent of the run. */
export async function hasRunEnded(storage: AppendLog, log: string, run: string): Promise<boolean> {
  const tail = await storage.tail(log)
  let end = tail === undefined ? 0 : tail.index + 1
  while (end > 0) {
    const from = Math.max(0, end - PAGE)
    const page = await storage.read(log, { from, limit: end - from })
    for (const { value } of [...page].reverse()) {
      const entry = value as JsonObject
      if (entry.run !== run) continue
      if (entry.event === 'run.outcome') return true
      if (entry.event === 'run.intent') return false
    }
    end = from
  }
  return false
}
