import type { Label } from '@sluice/core'
import type { MemoryConfig } from './memory-config.js'
import type { IndexedFile, MemoryAuthor, MemoryFiles, StoreChange, StoreState } from './memory-files.js'
import { foldPath, isWithin, MEMORY_ROOT } from './memory-path.js'

/** What a command came to: a text for the model, and whether anything was done. */
export interface CommandResult {
  readonly ok: boolean
  readonly text: string
  /** Files that the text was made from. */
  readonly seen?: readonly IndexedFile[]
}

/** By whom, and under which labels, something is written. */
export interface Writing {
  readonly config: Pick<MemoryConfig, 'maxFileChars' | 'maxFiles' | 'maxStoreChars'>
  readonly author: MemoryAuthor
  readonly labels: readonly Label[]
}

const failed = (text: string): CommandResult => ({ ok: false, text })
const none = (path: string): CommandResult =>
  failed(`There is no file ${path}. View ${MEMORY_ROOT} to see what there is.`)
const at = (path: string) => (files: readonly IndexedFile[]) => files.filter((file) => file.path === path)

/** Makes a file, or writes a file anew. */
export function createFile(files: MemoryFiles, path: string, text: string, writing: Writing): Promise<CommandResult> {
  return files.change(at(path), (state) => {
    const fault = placeFault(path, state.files)
    if (fault !== undefined) return { result: failed(fault) }
    return write(state, path, text, writing, false, `Written: ${path}.`)
  })
}

/** Replaces the one place that holds `old`. */
export function replaceText(files: MemoryFiles, path: string, old: string, next: string, writing: Writing) {
  return edit(files, path, writing, (text) => {
    const first = old === '' ? -1 : text.indexOf(old)
    if (first < 0) return failed(`Nothing was changed: ${path} does not hold this old_str. View the file first.`)
    if (text.indexOf(old, first + 1) >= 0)
      return failed(`Nothing was changed: ${path} holds this old_str more than once. Give more of the text around it.`)
    return text.slice(0, first) + next + text.slice(first + old.length)
  })
}

/** Inserts behind a line; 0 is before the first one. */
export function insertText(files: MemoryFiles, path: string, line: number, inserted: string, writing: Writing) {
  return edit(files, path, writing, (text) => {
    const lines = text === '' ? [] : text.split('\n')
    if (!Number.isSafeInteger(line) || line < 0 || line > lines.length)
      return failed(`Nothing was changed: insert_line must be from 0 to ${lines.length} in ${path}.`)
    const added = inserted.endsWith('\n') ? inserted.slice(0, -1) : inserted
    return [...lines.slice(0, line), ...added.split('\n'), ...lines.slice(line)].join('\n')
  })
}

/** Removes a file, or a folder with everything in it. */
export async function deletePath(files: MemoryFiles, path: string): Promise<CommandResult> {
  if (path === MEMORY_ROOT) return failed(`${MEMORY_ROOT} itself cannot be deleted. Delete the files in it.`)
  const gone = await files.remove((file) => isWithin(file.path, path))
  return gone.length === 0 ? none(path) : { ok: true, text: `Deleted: ${gone.map((file) => file.path).join(', ')}.` }
}

/** Moves a file, or a folder with everything in it. It never writes over a file. */
export function renamePath(files: MemoryFiles, from: string, to: string, writing: Writing): Promise<CommandResult> {
  return files.change<CommandResult>(
    () => [],
    (state) => {
      if (from === MEMORY_ROOT || to === MEMORY_ROOT)
        return { result: failed(`${MEMORY_ROOT} itself cannot be renamed.`) }
      const moved = state.files.filter((file) => isWithin(file.path, from))
      if (moved.length === 0) return { result: none(from) }
      if (from !== to && isWithin(to, from)) return { result: failed('A folder cannot be moved into itself.') }
      const staying = state.files.filter((file) => !moved.includes(file))
      const next: IndexedFile[] = []
      for (const file of moved) {
        const path = to + file.path.slice(from.length)
        const fault =
          path.length > 500 ? 'The new path is too long.' : (takenFault(path, staying) ?? placeFault(path, staying))
        if (fault !== undefined) return { result: failed(fault) }
        next.push({
          ...file,
          path,
          updatedAt: state.at,
          updated: writing.author,
          labels: union(file.labels, writing.labels),
        })
      }
      return { files: [...staying, ...next], result: { ok: true, text: `Renamed: ${from} is now ${to}.` } }
    },
  )
}

function edit(
  files: MemoryFiles,
  path: string,
  writing: Writing,
  change: (text: string) => string | CommandResult,
): Promise<CommandResult> {
  return files.change(at(path), (state) => {
    const file = state.files.find((one) => one.path === path)
    if (file === undefined) return { result: none(path) }
    const next = change(state.text(file))
    if (typeof next !== 'string') return { result: next }
    return write(state, path, next, writing, true, `Changed: ${path}.`)
  })
}

/** `keeps`: what the file said before is part of what it says now, and so are its labels. */
function write(
  state: StoreState,
  path: string,
  text: string,
  { config, author, labels }: Writing,
  keeps: boolean,
  done: string,
): StoreChange<CommandResult> {
  const before = state.files.find((file) => file.path === path)
  const others = state.files.filter((file) => file !== before)
  const fault = capFault(text.length, others, before !== undefined, config)
  if (fault !== undefined) return { result: failed(fault) }
  const file: IndexedFile = {
    id: before?.id ?? state.freeId,
    path,
    chars: text.length,
    createdAt: before?.createdAt ?? state.at,
    updatedAt: state.at,
    created: before?.created ?? author,
    updated: author,
    labels: keeps && before !== undefined ? union(before.labels, labels) : [...labels],
  }
  return { files: [...others, file], texts: new Map([[file.id, text]]), result: { ok: true, text: done } }
}

/** Caps are told in words that a model can act on (M-6). */
function capFault(
  chars: number,
  others: readonly IndexedFile[],
  exists: boolean,
  { maxFileChars, maxFiles, maxStoreChars }: Writing['config'],
): string | undefined {
  const advice = 'Nothing was written: merge or delete files, or write less.'
  if (chars > maxFileChars)
    return `The file would have ${chars} characters; at most ${maxFileChars} are kept. ${advice}`
  if (!exists && others.length >= maxFiles)
    return `There are ${others.length} files, which is all there can be. ${advice}`
  const total = others.reduce((sum, file) => sum + file.chars, chars)
  if (maxStoreChars !== null && total > maxStoreChars)
    return `The memory would hold ${total} characters; at most ${maxStoreChars} are kept. ${advice}`
  return undefined
}

/** A file cannot stand where a folder is, in a file, or beside one that differs in case alone. */
function placeFault(path: string, files: readonly IndexedFile[]): string | undefined {
  if (path === MEMORY_ROOT) return `${MEMORY_ROOT} is a folder. Give the path of a file in it.`
  const folded = foldPath(path)
  for (const { path: other } of files) {
    if (other === path) continue
    const otherFolded = foldPath(other)
    if (otherFolded === folded) return `${other} differs from ${path} in upper and lower case alone. Use ${other}.`
    if (isWithin(otherFolded, folded)) return `${path} is a folder with files in it. Choose another path.`
    if (isWithin(folded, otherFolded)) return `${other} is a file and cannot hold ${path}. Choose another path.`
  }
  return undefined
}

function takenFault(path: string, files: readonly IndexedFile[]): string | undefined {
  return files.some((file) => file.path === path)
    ? `${path} exists already. Delete it first, or choose another path.`
    : undefined
}

function union(left: readonly Label[], right: readonly Label[]): readonly Label[] {
  const more = right.filter((label) => !left.some(({ kind, source }) => kind === label.kind && source === label.source))
  return [...left, ...more]
}
