import { createPublicKey } from 'node:crypto'
import type { JsonValue, PluginHost } from '@sluice/core'
import type { AuditDraft, AuditEntry, PersonalReference } from './audit-entry.js'
import { NO_ENTRY } from './audit-entry.js'
import { auditError } from './audit-error.js'
import type { ReadAuditOptions } from './audit-options.js'
import { isLogName } from './audit-options.js'
import type { ChainVerifier, VerifyOptions } from './chain-verifier.js'
import type { AuditCheckpoint } from './checkpoint.js'
import { isCheckpointGood, signCheckpoint } from './checkpoint.js'
import type { AuditExportFormat, ExportRange } from './export-log.js'
import { exportLog } from './export-log.js'
import { MerkleTree } from './merkle-tree.js'
import type { ProofBundle } from './proof-bundle.js'
import type { Recorder } from './recorder.js'
import type { Verification } from './verification.js'
import { readChain } from './verify-log.js'

/** Which log is meant: needed only where the option `log` is a function. */
export interface WhichLog {
  readonly log?: string
}

/** What is to be erased: values that fit everything that is given. */
export interface Erasure extends WhichLog {
  /** Values of runs that this user started. */
  readonly subject?: string
  /** Values of this tenant. */
  readonly tenant?: string
  /** These values, by the id in their reference. */
  readonly ids?: readonly string[]
  /** Who asked for it; stands in the log. */
  readonly by: string
  /** Why; stands in the log. Write a number of the request, not the person. */
  readonly reason: string
}

/** What `runtime.plugin(audit)` gives. Every call is safe beside running writers. */
export interface AuditApi {
  /**
   * Verifies a log as it lies in the store. The keys of the plugin and its own stored checkpoints are used beside what is
   * given; checkpoints that were kept elsewhere go into `anchors`.
   */
  verify(options?: Omit<VerifyOptions, 'keys'>): Promise<Verification>
  /** Verifies the log, signs its tree head, stores it and returns it. @throws AUDIT_SIGNER_MISSING, AUDIT_CHAIN_BROKEN */
  checkpoint(which?: WhichLog): Promise<AuditCheckpoint>
  /** The stored checkpoints of a log, smallest first. */
  checkpoints(which?: WhichLog): Promise<readonly AuditCheckpoint[]>
  /**
   * Takes a checkpoint and bundles the entries of a run, nested ones too, with what proves them.
   * @throws AUDIT_SIGNER_MISSING, AUDIT_CHAIN_BROKEN, AUDIT_RUN_UNKNOWN
   */
  prove(rootExecutionId: string, which?: WhichLog): Promise<ProofBundle>
  /** The export of a log, line by line, each with its line break. @throws AUDIT_CHAIN_BROKEN, but not for `jsonl` */
  export(format: AuditExportFormat, range?: ExportRange & WhichLog): AsyncGenerator<string, void, undefined>
  /** A personal value that has not been erased; `undefined` where it was, or where it is not the one of the reference. */
  personalValue(reference: PersonalReference, which?: WhichLog): Promise<JsonValue | undefined>
  /** Writes who asked, then removes the values and their salts. Asked again, it removes what is left. Returns the ids. @throws AUDIT_ERASURE_INVALID */
  erase(erasure: Erasure): Promise<readonly string[]>
  /** Names of the logs that hold entries. */
  logs(): Promise<readonly string[]>
}

const PAGE = 500
/** Ids in one entry about an erasure. */
const IDS_IN_ENTRY = 500

export function createAuditApi(host: PluginHost<ReadAuditOptions>, recorder: Recorder): AuditApi {
  const { options, storage } = host
  const { key, previousKeys, checkpoints: signer } = options
  const keys = key === undefined ? undefined : [...previousKeys, key]

  function nameOf({ log }: WhichLog = {}): string {
    const name: unknown = log ?? options.log
    if (isLogName(name)) return name
    throw auditError('AUDIT_LOG_INVALID', 'Which log? The option `log` is a function, so name one of `logs()`.')
  }

  async function stored(log: string): Promise<AuditCheckpoint[]> {
    const found: AuditCheckpoint[] = []
    let after: string | undefined
    do {
      const page = await storage.documents.list(['checkpoint', log], {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      })
      for (const { value } of page.items) found.push(value as unknown as AuditCheckpoint)
      after = page.next ?? undefined
    } while (after !== undefined)
    return found
  }

  async function anchorsOf(log: string): Promise<readonly AuditCheckpoint[]> {
    if (signer === undefined) return []
    const publicKey = createPublicKey(signer.privateKey)
    // one that another key signed, or nobody, proves nothing
    return (await stored(log)).filter((own) => isCheckpointGood(own, publicKey) && own.log === log)
  }

  async function verified(log: string, given: Omit<VerifyOptions, 'keys'>) {
    const own = await anchorsOf(log)
    const anchors = [...own, ...(given.anchors ?? [])]
    const chain = await readChain(storage.log, log, { ...given, anchors, ...(keys === undefined ? {} : { keys }) })
    return { chain, report: chain.end() }
  }

  /** The chain, where nothing is wrong with it. A key that came later is no fault here. */
  async function sound(log: string): Promise<ChainVerifier> {
    const own = await anchorsOf(log)
    const chain = await readChain(storage.log, log, { anchors: own })
    const report = chain.end()
    if (report.ok) return chain
    throw auditError('AUDIT_CHAIN_BROKEN', `The log "${log}" does not verify: ${report.faults[0]?.message ?? ''}`, {
      log,
      faults: report.faults.length,
      first: report.faults[0]?.from ?? null,
    })
  }

  async function signed(log: string): Promise<{ checkpoint: AuditCheckpoint; tree: MerkleTree }> {
    if (signer === undefined) {
      throw auditError('AUDIT_SIGNER_MISSING', `The log "${log}" has no key to sign a checkpoint with.`, { log })
    }
    const { hashes } = await sound(log)
    const tree = new MerkleTree(hashes)
    const size = hashes.length
    const head = { log, size, hash: hashes.at(size - 1) ?? NO_ENTRY, root: tree.root, at: host.clock.now() }
    const checkpoint = signCheckpoint(head, signer)
    await storage.documents.put(['checkpoint', log, String(size).padStart(16, '0')], { ...checkpoint })
    return { checkpoint, tree }
  }

  return {
    async verify(given = {}) {
      return (await verified(nameOf(given), given)).report
    },
    async checkpoint(which) {
      return (await signed(nameOf(which))).checkpoint
    },
    checkpoints: async (which) => stored(nameOf(which)),
    async prove(run, which) {
      const log = nameOf(which)
      const { checkpoint, tree } = await signed(log)
      const entries: { entry: AuditEntry; path: string[] }[] = []
      for (let from = 0; from < tree.size; from += PAGE) {
        const page = await storage.log.read(log, { from, limit: Math.min(PAGE, tree.size - from) })
        for (const { value } of page) {
          const entry = value as unknown as AuditEntry
          if (entry.run === run) entries.push({ entry, path: tree.path(entry.seq) })
        }
      }
      if (entries.length === 0) {
        throw auditError('AUDIT_RUN_UNKNOWN', `The log "${log}" holds no entry of the run ${JSON.stringify(run)}.`, {
          log,
        })
      }
      return { v: 1, log, run, checkpoint, entries }
    },
    export: (format, range = {}) => exportLog(storage.log, nameOf(range), format, range),
    personalValue: async (reference, which) => recorder.personal.read(nameOf(which), reference),
    async erase({ subject, tenant, ids, by, reason, log: given }) {
      const log = nameOf(given === undefined ? {} : { log: given })
      if ((subject ?? tenant ?? ids) === undefined || by === '' || reason === '') {
        throw auditError('AUDIT_ERASURE_INVALID', 'An erasure says whose values it means, who asked for it, and why.')
      }
      const wanted = ids === undefined ? undefined : new Set(ids)
      const found = await recorder.personal.find(
        log,
        (value, id) =>
          (subject === undefined || value.subject === subject) &&
          (tenant === undefined || value.tenant === tenant) &&
          (wanted === undefined || wanted.has(id)),
      )
      for (let from = 0; from < found.length; from += IDS_IN_ENTRY) {
        const part = found.slice(from, from + IDS_IN_ENTRY)
        await recorder.write(log, erasedDraft(host.clock.now(), by, reason, part))
        await recorder.personal.remove(log, part)
      }
      return found
    },
    logs: () => storage.log.streams(),
  }
}

function erasedDraft(at: number, by: string, reason: string, ids: readonly string[]): AuditDraft {
  return {
    event: 'personal.erased',
    at,
    run: null,
    execution: null,
    effectId: null,
    attempt: null,
    tenant: null,
    actor: null,
    session: null,
    app: null,
    agent: null,
    data: { by, reason, ids },
  }
}
