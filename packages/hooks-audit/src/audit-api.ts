import type { JsonValue, PluginHost } from '@sluice/core'
import type { AuditEntry, PersonalReference } from './audit-entry.js'
import { auditError } from './audit-error.js'
import type { ReadAuditOptions } from './audit-options.js'
import { isLogName } from './audit-options.js'
import type { VerifyOptions } from './chain-verifier.js'
import type { AuditCheckpoint } from './checkpoint.js'
import type { ConsistencyProof } from './consistency-proof.js'
import type { AuditExportFormat, ExportRange } from './export-log.js'
import { exportLog } from './export-log.js'
import { logDraft } from './log-draft.js'
import { MerkleTree } from './merkle-tree.js'
import type { ProofBundle } from './proof-bundle.js'
import { readEntry } from './read-entry.js'
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
  /** The stored checkpoints of a log that the signer of the plugin signed (without one, all), smallest first. */
  checkpoints(which?: WhichLog): Promise<readonly AuditCheckpoint[]>
  /**
   * Takes a checkpoint, and what shows that the log behind it begins with all that the kept one holds: `verifyConsistency`
   * checks it with no store. @throws AUDIT_SIGNER_MISSING, AUDIT_CHAIN_BROKEN also where the log does not begin with it
   */
  proveConsistency(kept: AuditCheckpoint, which?: WhichLog): Promise<ConsistencyProof>
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
  const { heads } = recorder

  function nameOf({ log }: WhichLog = {}): string {
    const name: unknown = log ?? options.log
    if (isLogName(name)) return name
    throw auditError('AUDIT_LOG_INVALID', 'Which log? The option `log` is a function, so name one of `logs()`.')
  }

  return {
    async verify(given = {}) {
      const log = nameOf(given)
      const anchors = [...(await heads.anchors(log)), ...(given.anchors ?? [])]
      return (await readChain(storage.log, log, { ...heads.codesOf(log), ...given, anchors })).end()
    },
    checkpoint: async (which) => (await heads.take(nameOf(which))).checkpoint,
    checkpoints: async (which) => heads.stored(nameOf(which)),
    async proveConsistency(kept, which = {}) {
      const log = nameOf({ log: kept.log, ...which })
      const { checkpoint: newer, chain } = await heads.take(log)
      const from = kept.size
      if (!(from >= 0 && from <= newer.size) || new MerkleTree(chain.hashes, from).root !== kept.root) {
        const what = `The log "${log}" of ${newer.size} entries does not begin with the ${from} of the checkpoint.`
        throw auditError('AUDIT_CHAIN_BROKEN', what, { log, size: newer.size, kept: from })
      }
      return { v: 1, log, from, newer, path: new MerkleTree(chain.hashes).consistency(from) }
    },
    async prove(run, which) {
      const log = nameOf(which)
      const { checkpoint, chain } = await heads.take(log)
      const tree = new MerkleTree(chain.hashes)
      const entries: { entry: AuditEntry; path: string[] }[] = []
      for (let from = 0; from < tree.size; from += PAGE) {
        const page = await storage.log.read(log, { from, limit: Math.min(PAGE, tree.size - from) })
        for (const { index, value } of page) {
          const { entry } = readEntry(value)
          if (entry?.run !== run) continue
          // what is read now must be what was signed a moment ago
          if (entry.hash !== chain.hashes.at(index)) throw changedMeanwhile(log, index)
          entries.push({ entry, path: tree.path(index) })
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
        await recorder.write(log, logDraft('personal.erased', host.clock.now(), { by, reason, ids: part }))
        await recorder.personal.remove(log, part)
      }
      return found
    },
    logs: () => storage.log.streams(),
  }
}

function changedMeanwhile(log: string, index: number): Error {
  const what = `Entry ${index} of the log "${log}" changed while it was proven.`
  return auditError('AUDIT_CHAIN_BROKEN', what, { log, first: index })
}
