import type { Clock } from '../../internal/clock.js'
import { checkId } from '../embedded/check-key.js'
import { nextEntries } from '../embedded/log-entries.js'
import { checkCount } from '../embedded/page.js'
import { compareText } from '../embedded/sorted-list.js'
import type { AppendLog, LogEntry } from '../store.js'

/** The streams of one namespace in memory. */
export function createMemoryLog(
  streams: Map<string, LogEntry[]>,
  clock: Clock,
  check: (signal?: AbortSignal) => void,
): AppendLog {
  return {
    async append(stream, entries, call) {
      check(call?.signal)
      const log = streams.get(checkId(stream, 'The name of a stream'))
      const tail = log?.at(-1)
      const at = clock.now()
      const added = nextEntries(entries(tail, at), tail, at)
      if (log !== undefined) for (const entry of added) log.push(entry)
      else if (added.length > 0) streams.set(stream, [...added])
      return added
    },
    async read(stream, options = {}) {
      check(options.signal)
      const log = streams.get(checkId(stream, 'The name of a stream')) ?? []
      const from = options.from === undefined ? 0 : checkCount(options.from, 'from', 0)
      const limit = options.limit === undefined ? log.length : checkCount(options.limit, 'limit', 0)
      return log.slice(from, from + limit)
    },
    async tail(stream, call) {
      check(call?.signal)
      return streams.get(checkId(stream, 'The name of a stream'))?.at(-1)
    },
    async streams(call) {
      check(call?.signal)
      return [...streams.keys()].sort(compareText)
    },
  }
}
