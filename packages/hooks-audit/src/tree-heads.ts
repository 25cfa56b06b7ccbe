import { createPublicKey } from 'node:crypto'
import type { JsonObject, PluginHost } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { NO_ENTRY } from './audit-entry.js'
import { auditError } from './audit-error.js'
import type { ReadAuditOptions } from './audit-options.js'
import type { ChainVerifier, VerifyOptions } from './chain-verifier.js'
import type { AuditCheckpoint } from './checkpoint.js'
import { isCheckpointGood, signCheckpoint } from './checkpoint.js'
import { MerkleFrontier } from './merkle-frontier.js'
import { readEntry } from './read-entry.js'
import { readChain } from './verify-log.js'

const PAGE = 500

/** Signs and stores the tree heads of logs, when asked and, where the options say so, by itself. */
export class TreeHeads {
  readonly #host: PluginHost<ReadAuditOptions>
  /** By log: the checkpoint that is being taken, and whether another one is due behind it. */
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>()

  constructor(host: PluginHost<ReadAuditOptions>) {
    this.#host = host
  }

  /** Keys of the codes, and from where on there must be one: what every verification of the plugin uses. */
  codesOf(log: string): Pick<VerifyOptions, 'keys' | 'keyedFrom'> {
    const { key, previousKeys, keyedFrom } = this.#host.options
    if (key === undefined) return {}
    return { keys: [...previousKeys, key], keyedFrom: typeof keyedFrom === 'number' ? keyedFrom : keyedFrom(log) }
  }

  /** The stored checkpoints of a log that its signer signed, smallest first; without a signer, all that are stored. */
  async stored(log: string): Promise<readonly AuditCheckpoint[]> {
    const found: AuditCheckpoint[] = []
    let after: string | undefined
    do {
      const page = await this.#host.storage.documents.list(['checkpoint', log], {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      })
      for (const { value } of page.items) found.push(value as unknown as AuditCheckpoint)
      after = page.next ?? undefined
    } while (after !== undefined)
    const { checkpoints: signer } = this.#host.options
    if (signer === undefined) return found
    const publicKey = createPublicKey(signer.privateKey)
    // one that another key signed, or nobody, proves nothing
    return found.filter((own) => isCheckpointGood(own, publicKey) && own.log === log)
  }

  /** Stored checkpoints that may be built on: none without a signer to know them by. */
  async anchors(log: string): Promise<readonly AuditCheckpoint[]> {
    return this.#host.options.checkpoints === undefined ? [] : this.stored(log)
  }

  /** Verifies the whole log, then signs its tree head. @throws AUDIT_SIGNER_MISSING, AUDIT_CHAIN_BROKEN */
  async take(log: string): Promise<{ checkpoint: AuditCheckpoint; chain: ChainVerifier }> {
    this.#signerOf(log)
    const chain = await this.#sound(log, { anchors: await this.anchors(log) })
    const frontier = new MerkleFrontier()
    for (let index = 0; index < chain.hashes.length; index++) frontier.add(chain.hashes.bytesAt(index))
    return { checkpoint: await this.#sign(log, frontier, chain.hashes.at(frontier.size - 1) ?? NO_ENTRY), chain }
  }

  /** Told of every entry: takes a checkpoint beside the writers where one is due. Never rejects, never delays a gate. */
  written(log: string, size: number): void {
    const every = this.#host.options.checkpoints?.everyEntries
    if (every === undefined || size % every !== 0) return
    const running = this.#running.get(log)
    if (running !== undefined) {
      running.again = true
      return
    }
    const job = { again: false, done: Promise.resolve() }
    this.#running.set(log, job)
    job.done = this.#takeWhileDue(log, job)
  }

  /** Resolves when no checkpoint is being taken any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  async #takeWhileDue(log: string, job: { again: boolean }): Promise<void> {
    do {
      job.again = false
      try {
        await this.#goOn(log)
      } catch (error) {
        const code = SluiceError.isInstance(error) ? error.code : null
        this.#host.logger.error({ log, code, error: String(error) }, 'a checkpoint of the audit could not be taken')
      }
    } while (job.again)
    this.#running.delete(log)
  }

  /** Signs the tree head of what was written since the last one: what that one holds is not read again. */
  async #goOn(log: string): Promise<void> {
    const head = await this.#lastHead(log)
    const { size, hash } = head?.checkpoint ?? { size: 0, hash: NO_ENTRY }
    if (size > 0) await this.#mustEndWith(log, size, hash)
    const { hashes } = await this.#sound(log, { after: { size, hash } })
    if (hashes.length === 0) return
    const frontier = head?.frontier ?? new MerkleFrontier()
    for (let index = 0; index < hashes.length; index++) frontier.add(hashes.bytesAt(index))
    await this.#sign(log, frontier, hashes.at(hashes.length - 1) as string)
  }

  /** The entry that the last head ends with must still be there. */
  async #mustEndWith(log: string, size: number, hash: string): Promise<void> {
    const [last] = await this.#host.storage.log.read(log, { from: size - 1, limit: 1 })
    if (last !== undefined && readEntry(last.value).entry?.hash === hash) return
    const what = `Entry ${size - 1} of the log "${log}" is not the one that the last checkpoint holds.`
    throw auditError('AUDIT_CHAIN_BROKEN', what, { log, first: size - 1 })
  }

  /** Only what leads to a root that the signer signed is gone on from. */
  async #lastHead(log: string): Promise<{ checkpoint: AuditCheckpoint; frontier: MerkleFrontier } | undefined> {
    const value = await this.#host.storage.documents.get(['head', log])
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
    const { checkpoint, roots } = value as { readonly checkpoint?: unknown; readonly roots?: unknown }
    if (!isCheckpointGood(checkpoint, createPublicKey(this.#signerOf(log).privateKey))) return undefined
    const frontier = MerkleFrontier.of(checkpoint.size, roots)
    return checkpoint.log === log && frontier?.root === checkpoint.root ? { checkpoint, frontier } : undefined
  }

  async #sound(log: string, options: VerifyOptions): Promise<ChainVerifier> {
    const chain = await readChain(this.#host.storage.log, log, { ...this.codesOf(log), ...options })
    const { ok, faults } = chain.end()
    if (ok) return chain
    throw auditError('AUDIT_CHAIN_BROKEN', `The log "${log}" does not verify: ${faults[0]?.message ?? ''}`, {
      log,
      faults: faults.length,
      first: faults[0]?.from ?? null,
    })
  }

  async #sign(log: string, frontier: MerkleFrontier, hash: string): Promise<AuditCheckpoint> {
    const { clock, storage } = this.#host
    const signer = this.#signerOf(log)
    const { size, root, roots } = frontier
    const checkpoint = signCheckpoint({ log, size, hash, root, at: clock.now() }, signer)
    await storage.documents.put(['checkpoint', log, String(size).padStart(16, '0')], { ...checkpoint })
    await storage.documents.put(['head', log], { checkpoint: { ...checkpoint } as unknown as JsonObject, roots })
    await this.#keep(checkpoint)
    return checkpoint
  }

  async #keep(checkpoint: AuditCheckpoint): Promise<void> {
    try {
      await this.#host.options.checkpoints?.keep?.(checkpoint)
    } catch (error) {
      const { log, size } = checkpoint
      this.#host.logger.error(
        { log, size, error: String(error) },
        'a checkpoint of the audit could not be kept elsewhere',
      )
    }
  }

  #signerOf(log: string): NonNullable<ReadAuditOptions['checkpoints']> {
    const { checkpoints: signer } = this.#host.options
    if (signer !== undefined) return signer
    throw auditError('AUDIT_SIGNER_MISSING', `The log "${log}" has no key to sign a checkpoint with.`, { log })
  }
}
