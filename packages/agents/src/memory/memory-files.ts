import type { DocumentKey, Documents, JsonObject, JsonValue, Label } from '@sluice/core'

/** Who wrote something, from the run that it was written in. `null` where it was no run, or there is none. */
export interface MemoryAuthor {
  readonly agent: string | null
  readonly sessionId: string | null
  readonly executionId: string | null
  readonly createdBy: string | null
}

/** One file as the index of its store has it: everything but its text. */
export interface MemoryFile {
  readonly path: string
  /** UTF-16 units. */
  readonly chars: number
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Who made it, and who changed it last. */
  readonly created: MemoryAuthor
  readonly updated: MemoryAuthor
  /** Sources of untrusted text that had been read where it was written. */
  readonly labels: readonly Label[]
}

/** As the index keeps it: `id` names the text and stays when the file is renamed. */
export interface IndexedFile extends MemoryFile {
  readonly id: string
}

/** What a change of a store leaves: files by list, texts by id (`null` removes). */
export interface StoreChange<Result> {
  readonly files?: readonly IndexedFile[]
  readonly texts?: ReadonlyMap<string, string | null>
  readonly result: Result
}

/** The state that a change starts from. */
export interface StoreState {
  readonly files: readonly IndexedFile[]
  readonly at: number
  /** The text of one of the files that were asked for. */
  text(file: IndexedFile): string
  /** An id that no text of the store has. */
  readonly freeId: string
}

/** The namespace of documents that memories stand in. */
export const MEMORY_NAMESPACE = 'agent-memory'

interface Index {
  readonly next: number
  readonly files: readonly IndexedFile[]
}

/** The files of one store: an index with everything but texts, and each text beside it. */
export class MemoryFiles {
  readonly #documents: Documents
  readonly #key: DocumentKey

  constructor(documents: Documents, key: DocumentKey) {
    this.#documents = documents
    this.#key = key
  }

  /** All files, by path. */
  async list(): Promise<readonly IndexedFile[]> {
    return readIndex(await this.#documents.get(indexKey(this.#key))).files
  }

  /** A file and its text as they are at one moment. */
  async read(find: (files: readonly IndexedFile[]) => IndexedFile | undefined) {
    return this.change(
      (files) => [find(files)].filter((file) => file !== undefined),
      (state) => {
        const file = find(state.files)
        return { result: file === undefined ? undefined : { file, text: state.text(file) } }
      },
    )
  }

  /**
   * Changes files. `touches` tells whose texts are read or removed; `change` is pure and may be called again. Writers of one
   * store wait for each other, so that no change is lost (M-18).
   */
  async change<Result>(
    touches: (files: readonly IndexedFile[]) => readonly IndexedFile[],
    change: (state: StoreState) => StoreChange<Result>,
  ): Promise<Result> {
    const place = indexKey(this.#key)
    for (;;) {
      const before = readIndex(await this.#documents.get(place))
      const ids = touches(before.files).map(({ id }) => id)
      const freeId = String(before.next)
      const all = [...ids, freeId]
      const done = await this.#documents.transact(
        [place, ...all.map((id) => textKey(this.#key, id))],
        (current, at) => {
          const index = readIndex(current[0])
          const stale = String(index.next) !== freeId || !sameIds(touches(index.files), ids)
          // somebody was quicker: what is to be touched is another by now
          if (stale) return { next: current, result: undefined }
          const text = ({ id }: IndexedFile) => String(current[1 + ids.indexOf(id)] ?? '')
          const { files, texts = new Map(), result } = change({ files: index.files, at, text, freeId })
          const next = all.map((id, position) => {
            const written = texts.get(id)
            return written === undefined ? current[position + 1] : (written ?? undefined)
          })
          const nextIndex =
            files === undefined ? current[0] : writeIndex({ next: index.next + (texts.has(freeId) ? 1 : 0), files })
          return { next: [nextIndex, ...next], result: { value: result } }
        },
      )
      if (done !== undefined) return done.value
    }
  }

  /** Removes the files that `goes` names; returns them. */
  async remove(goes: (file: IndexedFile) => boolean): Promise<readonly IndexedFile[]> {
    const chosen = (files: readonly IndexedFile[]) => files.filter(goes)
    return this.change(chosen, ({ files }) => {
      const gone = chosen(files)
      if (gone.length === 0) return { result: gone }
      return {
        files: files.filter((file) => !gone.includes(file)),
        texts: new Map(gone.map(({ id }) => [id, null])),
        result: gone,
      }
    })
  }
}

/** Keys of all stores that have ever held a file. */
export async function allStores(documents: Documents): Promise<readonly DocumentKey[]> {
  const keys: DocumentKey[] = []
  let after: string | undefined
  do {
    const page = await documents.list(['index'], { limit: 1_000, ...(after === undefined ? {} : { after }) })
    for (const { key } of page.items) keys.push(key.slice(1))
    after = page.next ?? undefined
  } while (after !== undefined)
  return keys
}

function indexKey(key: DocumentKey): DocumentKey {
  return ['index', ...key]
}

function textKey(key: DocumentKey, id: string): DocumentKey {
  return ['text', ...key, id]
}

function sameIds(files: readonly IndexedFile[], ids: readonly string[]): boolean {
  return files.length === ids.length && files.every(({ id }, position) => id === ids[position])
}

function readIndex(value: JsonValue | undefined): Index {
  return value === undefined ? { next: 1, files: [] } : (value as unknown as Index)
}

/** A store without files leaves its numbers behind, so that no text is ever taken for another. */
function writeIndex({ next, files }: Index): JsonObject {
  const sorted = files.toSorted((left, right) => (left.path < right.path ? -1 : 1))
  return { next, files: sorted as unknown as JsonValue }
}
