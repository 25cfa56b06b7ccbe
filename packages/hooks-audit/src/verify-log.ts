import type { AppendLog } from '@sluice/core'
import type { VerifyOptions } from './chain-verifier.js'
import { ChainVerifier } from './chain-verifier.js'
import { readBytes, readEntry } from './read-entry.js'
import type { Verification } from './verification.js'

const PAGE = 500
const NEWLINE = 0x0a

/**
 * Verifies entries in the order in which they stand. They may be anything: what is no entry is named, nothing throws.
 *
 * @example
 * const report = verifyEntries(entries, { anchors: [{ size: 1000, hash: 'a3...' }] })
 */
export function verifyEntries(entries: Iterable<unknown>, options: VerifyOptions = {}): Verification {
  const verifier = new ChainVerifier(options)
  for (const entry of entries) verifier.add(readEntry(entry))
  return verifier.end()
}

/**
 * Verifies an export in JSON Lines, with no store: every line must be to the byte what the export writes. Bytes
 * that are no UTF-8 spoil their line only.
 */
export function verifyLines(text: string | Uint8Array, options: VerifyOptions = {}): Verification {
  const verifier = new ChainVerifier(options)
  const bytes =
    typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  let from = 0
  while (from < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, from)
    const to = newline === -1 ? bytes.length : newline
    verifier.add(readBytes(bytes.subarray(from, to)))
    from = to + 1
  }
  return verifier.end()
}

/** Verifies a log as it lies in its store, page by page. */
export async function verifyStored(
  storage: AppendLog,
  log: string,
  options: VerifyOptions = {},
): Promise<Verification> {
  return (await readChain(storage, log, options)).end()
}

/** Reads a log through a verifier, page by page. */
export async function readChain(storage: AppendLog, log: string, options: VerifyOptions = {}): Promise<ChainVerifier> {
  const verifier = new ChainVerifier({ ...options, log })
  let from = options.after?.size ?? 0
  for (;;) {
    const page = await storage.read(log, { from, limit: PAGE })
    if (page.length === 0) return verifier
    for (const { value } of page) verifier.add(readEntry(value))
    from += page.length
  }
}
