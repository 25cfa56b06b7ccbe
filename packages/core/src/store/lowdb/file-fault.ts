import type { ErrorCode } from '../../errors/error-codes.js'
import { SluiceError } from '../../errors/sluice-error.js'

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'STORE_FULL',
  EDQUOT: 'STORE_FULL',
  EROFS: 'STORE_READ_ONLY',
  EACCES: 'STORE_READ_ONLY',
  EPERM: 'STORE_READ_ONLY',
}

/** The `code` of an error of `node:fs`, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  const code = error !== null && typeof error === 'object' ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The store's error for a write that certainly did not take effect. One that is the store's already stays. */
export function writeFault(error: unknown, folder: string): SluiceError {
  if (SluiceError.isInstance(error)) return error
  const errno = errnoOf(error) ?? 'unknown'
  const code = Object.hasOwn(CODES, errno) ? (CODES[errno] as ErrorCode) : 'STORE_FAILED'
  return new SluiceError(code, `The store in ${folder} could not write (${errno}); nothing was written.`, {
    cause: error,
    details: { errno, folder },
    hint: HINTS[code] ?? 'Look at the cause; the same call may succeed later.',
  })
}

const HINTS: Partial<Record<ErrorCode, string>> = {
  STORE_FULL: 'Free some space; the store goes on by itself.',
  STORE_READ_ONLY: 'Check the permissions of the folder and how its disk is mounted.',
}

/** The store's error for a write of which nobody can know whether it took effect. */
export function unknownOutcome(error: unknown, folder: string): SluiceError {
  const errno = errnoOf(error) ?? 'unknown'
  return new SluiceError(
    'STORE_OUTCOME_UNKNOWN',
    `The store in ${folder} failed while it wrote (${errno}) and could not take the write back; it cannot be known whether it took effect.`,
    {
      cause: error,
      details: { errno, folder },
      hint: 'Repeat the write with the same key when the disk is well again.',
    },
  )
}

/** An error of its own for another call that the same fault has hit. */
export function sameFault(error: SluiceError): SluiceError {
  const { code, details, hint, reason, cause } = error
  const message = hint === undefined ? error.message : error.message.replace(`\n${hint}`, () => '')
  return new SluiceError(code, message, { cause, details, hint, reason })
}

/** The store's error for something that could not be read. */
export function readFault(error: unknown, path: string): SluiceError {
  if (SluiceError.isInstance(error)) return error
  const errno = errnoOf(error) ?? 'unknown'
  return new SluiceError('STORE_FAILED', `The file ${path} of the store could not be read (${errno}).`, {
    cause: error,
    details: { errno, file: path },
    hint: 'Look at the cause; nothing was changed.',
  })
}

/** What is known of a damaged file. */
export interface Damage {
  /** What is wrong, to follow "is damaged:". */
  readonly why: string
  /** First byte that cannot be used; absent where that is the whole file. */
  readonly byte?: number
  /** What the file holds up to there, in words. */
  readonly lastGood?: string
}

/** A file that is not what the store wrote: refused by name, and left as it is. */
export function damagedFile(path: string, damage: Damage): SluiceError {
  const { why, byte, lastGood = 'nothing in this file can be used' } = damage
  const place = byte === undefined ? '' : ` at byte ${byte}`
  return new SluiceError(
    'STORE_DAMAGED',
    `The file ${path} of the store is damaged${place}: ${why}. Last good state: ${lastGood}. Nothing was overwritten.`,
    {
      details: { file: path, ...(byte === undefined ? {} : { byte }), why, lastGood },
      hint: 'Restore the folder from a copy, or that file from a copy of the same moment.',
    },
  )
}
