/** Where every file of a memory stands. */
export const MEMORY_ROOT = '/memories'

const MAX_PATH = 500
const MAX_SEGMENT = 120
/** Letters, marks and digits of any script and a few signs: no control, format, private or look-alike separator characters. */
const SEGMENT = /^[\p{L}\p{M}\p{N}._\- ()+,@]+$/u

/** A path that can be used, or what is wrong with it in words for a model. */
export type ParsedPath = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly fault: string }

const no = (fault: string): ParsedPath => ({ ok: false, fault })

/**
 * Reads a path of the virtual file system (M-8). Nothing is decoded, resolved or mended: what is not plainly a path under
 * `/memories` is refused, so that one file has one spelling. One `/` at the end is dropped.
 */
export function parseMemoryPath(given: unknown): ParsedPath {
  if (typeof given !== 'string' || given === '') return no('a path is missing')
  if (given.length > MAX_PATH) return no(`the path is longer than ${MAX_PATH} characters`)
  if (given.includes('\\')) return no('a path has no backslashes')
  if (given.includes('%')) return no('a path is not URL-encoded and has no % in it')
  if (given !== given.normalize('NFKC')) return no('the path has characters that only look like plain ones')
  const path = given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given
  if (path === MEMORY_ROOT) return { ok: true, path }
  if (!path.startsWith(`${MEMORY_ROOT}/`)) return no(`a path begins with ${MEMORY_ROOT}/`)
  for (const segment of path.slice(MEMORY_ROOT.length + 1).split('/')) {
    const fault = segmentFault(segment)
    if (fault !== undefined) return no(fault)
  }
  return { ok: true, path }
}

function segmentFault(segment: string): string | undefined {
  if (segment === '') return 'the path has an empty part'
  if (/^\.+$/.test(segment)) return 'the path has a part of dots alone'
  if (segment.length > MAX_SEGMENT) return `a part of the path is longer than ${MAX_SEGMENT} characters`
  if (!SEGMENT.test(segment)) return 'a part of the path has characters other than letters, digits, space and ._-()+,@'
  if (segment.startsWith(' ') || /[ .]$/.test(segment))
    return 'a part of the path begins or ends with a space, or ends with a dot'
  return undefined
}

/** The same for two paths that differ in case alone. */
export function foldPath(path: string): string {
  return path.toUpperCase().toLowerCase().normalize('NFKC')
}

/** True where `path` is `folder` or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
