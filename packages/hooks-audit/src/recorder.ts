import type { PluginHost, RunState } from '@sluice/core'
import { SluiceError, Veto } from '@sluice/core'
import type { AuditDraft, AuditEntry } from './audit-entry.js'
import { auditError } from './audit-error.js'
import type { LogFacts, ReadAuditOptions } from './audit-options.js'
import { isLogName } from './audit-options.js'
import { ChainWriter } from './chain-writer.js'
import type { Redaction } from './clean-draft.js'
import { cleanDraft } from './clean-draft.js'
import type { AttemptId } from './effect-marks.js'
import { isMarked, mark } from './effect-marks.js'
import type { EntryPath } from './entry-path.js'
import { touchesData } from './entry-path.js'
import type { PersonalValue } from './personal-values.js'
import { PersonalValues } from './personal-values.js'
import { TreeHeads } from './tree-heads.js'

/** Brings drafts into the log that they belong to. */
export class Recorder {
  readonly personal: PersonalValues
  readonly heads: TreeHeads
  readonly #host: PluginHost<ReadAuditOptions>
  readonly #writers = new Map<string, ChainWriter>()
  readonly #redaction: Redaction
  readonly #personalPaths: readonly EntryPath[]

  constructor(host: PluginHost<ReadAuditOptions>) {
    const { redact, personal } = host.options
    this.#host = host
    this.personal = new PersonalValues(host)
    this.heads = new TreeHeads(host)
    this.#redaction = { paths: redact.paths, patterns: redact.patterns, values: redact.values ?? (() => []) }
    // a plain digest of a few possible values gives them away
    this.#personalPaths = touchesData(personal, 'args') ? [...personal, ['data', 'argsDigest']] : personal
  }

  /** The log of a run. @throws AUDIT_LOG_INVALID */
  logOf(facts: LogFacts): string {
    const { log } = this.#host.options
    const name: unknown = typeof log === 'string' ? log : log({ tenant: facts.tenant, createdBy: facts.createdBy })
    if (isLogName(name)) return name
    throw auditError('AUDIT_LOG_INVALID', `${JSON.stringify(name)?.slice(0, 120)} is no name of a log.`, {
      tenant: facts.tenant,
    })
  }

  /**
   * Writes the intent of an attempt, once, before its effect.
   *
   * @throws a Veto with a code of this package where it could not be written
   */
  async intent(
    makeDraft: () => AuditDraft,
    owner: AttemptId & LogFacts & { readonly signal: AbortSignal },
    state: RunState | undefined,
  ): Promise<void> {
    if (isMarked(state, owner)) return
    try {
      await this.write(this.logOf(owner), makeDraft(), owner.signal)
    } catch (error) {
      throw toVeto(error)
    }
    mark(state, owner)
  }

  /** Writes an entry: personal values first, beside the chain, then the entry itself. */
  async write(log: string, draft: AuditDraft, signal?: AbortSignal): Promise<AuditEntry> {
    const values: { id: string; kept: PersonalValue }[] = []
    const subject = typeof draft.actor === 'string' ? draft.actor : null
    const cleaned = cleanDraft(draft, this.#redaction, this.#personalPaths, (value, path) => {
      const sealed = this.personal.seal(value, {
        path,
        subject,
        tenant: typeof draft.tenant === 'string' ? draft.tenant : null,
        at: draft.at,
      })
      values.push(sealed)
      return sealed.reference
    })
    if (values.length > 0) await this.personal.keep(log, values)
    const entry = await this.#writer(log).write(cleaned, signal)
    this.heads.written(log, entry.seq + 1)
    return entry
  }

  #writer(log: string): ChainWriter {
    let writer = this.#writers.get(log)
    if (writer === undefined) {
      const { key, previousKeys } = this.#host.options
      // there may be a log per tenant: one that nobody waits for is not kept
      writer = new ChainWriter(this.#host.storage.log, log, { current: key, previous: previousKeys }, () =>
        this.#writers.delete(log),
      )
      this.#writers.set(log, writer)
    }
    return writer
  }
}

function toVeto(error: unknown): Veto {
  const known = SluiceError.isInstance(error) ? error : undefined
  if (known?.code.startsWith('AUDIT_') === true) return new Veto(known.code, known.message, known.details)
  return new Veto(
    'AUDIT_NOT_WRITTEN',
    'The intent could not be written to the audit log, so the effect does not happen. Mend the store of the log.',
    { storeCode: known?.code ?? null },
  )
}
