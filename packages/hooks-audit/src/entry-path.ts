/** A path into an entry: names joined by dots, `*` for any one name or place in a list: `data.args.lines.*.iban`. */
export type EntryPath = readonly string[]

const STRUCTURE = new Set([
  'v',
  'log',
  'seq',
  'event',
  'at',
  'storedAt',
  'run',
  'execution',
  'effectId',
  'attempt',
  'prev',
  'hash',
  'macs',
])

/** Reads a path. `undefined` where it is none, or leads to what holds the chain and its pairs together. */
export function parseEntryPath(text: string): EntryPath | undefined {
  const path = text.split('.')
  if (text === 'data') return undefined
  if (path.includes('') || STRUCTURE.has(path[0] as string) || path[0] === '*') return undefined
  return path
}

/** True where one of the paths leads exactly here. */
export function isOnPath(paths: readonly EntryPath[], here: readonly string[]): boolean {
  for (const path of paths) {
    if (path.length === here.length && path.every((name, index) => name === '*' || name === here[index])) return true
  }
  return false
}

/** True where one of the paths leads to `name` of `data`, or into it. */
export function touchesData(paths: readonly EntryPath[], name: string): boolean {
  return paths.some((path) => path[0] === 'data' && (path[1] === '*' || path[1] === name))
}
