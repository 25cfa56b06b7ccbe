import { checkId, encodeKey } from '../embedded/check-key.js'
import { nextEntries } from '../embedded/log-entries.js'
import { checkCount } from '../embedded/page.js'
import { compareText } from '../embedded/sorted-list.js'
import type { AppendLog } from '../store.js'
import type { FolderGround } from './folder-ground.js'

/** The streams of one namespace in a folder. @throws STORE_KEY_INVALID */
export function createFolderLog(ground: FolderGround, namespace: string): AppendLog {
  checkId(namespace, 'A namespace')
  const streamOf = (name: string) => encodeKey([namespace, checkId(name, 'The name of a stream')])
  return {
    async append(name, entries, call) {
      ground.check(call?.signal)
      const stream = streamOf(name)
      return ground.write((batch) => {
        const tail = batch.lookup.tail(stream)
        const at = batch.now()
        const added = nextEntries(entries(tail, at), tail, at)
        batch.addEntries(stream, added)
        return added
      }, call?.signal)
    },
    async read(name, options = {}) {
      ground.check(options.signal)
      const stream = streamOf(name)
      const first = options.from === undefined ? 0 : checkCount(options.from, 'from', 0)
      const limit = options.limit === undefined ? Number.MAX_SAFE_INTEGER : checkCount(options.limit, 'limit', 0)
      const waiting = ground.state.entriesInLayers(stream)
      const from = Math.max(0, first - (ground.state.logChunks.get(stream)?.count ?? 0))
      const written = await ground.reader.entries(stream, { first, limit })
      return [...written, ...waiting.slice(from, from + limit - written.length)]
    },
    async tail(name, call) {
      ground.check(call?.signal)
      const stream = streamOf(name)
      return ground.look((lookup) => lookup.tail(stream))
    },
    async streams(call) {
      ground.check(call?.signal)
      return [...(ground.state.streams.get(namespace) ?? [])].sort(compareText)
    },
  }
}
