import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { spaceOf } from '../embedded/cell-index.js'

/**
 * Where things lie. Names are made here, from fixed words, numbers and hashes: no id, key or namespace ever becomes a path
 * (CASE-21). SHA-256 in lower-case hexadecimal keeps ids apart on every file system; the id itself stands in the file.
 */
export class StorePaths {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  get catalogue(): string {
    return join(this.folder, 'catalogue.jsonl')
  }

  redo(number: number): string {
    return join(this.folder, `redo-${padded(number)}.jsonl`)
  }

  lock(number: number): string {
    return join(this.folder, `lock-${padded(number)}.json`)
  }

  segment(number: number): string {
    return join(this.folder, 'segments', `${padded(number)}.jsonl`)
  }

  /** How far the redo log is acknowledged. */
  get acked(): string {
    return join(this.folder, 'redo-acked.txt')
  }

  document(cell: string): string {
    const space = spaceOf(cell)
    const colon = space.indexOf(':')
    const kind = KINDS.find((word) => word === (colon < 0 ? space : space.slice(0, colon))) ?? 'documents'
    const hash = createHash('sha256').update(cell, 'utf8').digest('hex')
    return join(this.folder, kind, hash.slice(0, 2), `${hash}.json`)
  }
}

const KINDS = ['documents', 'agents', 'prompts', 'journals'] as const

/** Number of a file with such a name; `undefined` for other names. */
export function numberOf(name: string, kind: 'redo' | 'lock'): number | undefined {
  const match = /^(redo|lock)-(\d{8})\.jsonl?$/.exec(name)
  return match !== null && match[1] === kind ? Number(match[2]) : undefined
}

function padded(number: number): string {
  return String(number).padStart(8, '0')
}
