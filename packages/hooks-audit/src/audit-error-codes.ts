/** What a code of this package says, and what to do about it. */
export interface AuditErrorRow {
  readonly meaning: string
  readonly remedy: string
}

/** All codes that this package raises, as a `Veto` of its gates or as a `SluiceError` of its functions. */
export const AUDIT_ERROR_CODES = Object.freeze({
  AUDIT_NOT_WRITTEN: {
    meaning: 'The intent could not be written, so the effect does not happen.',
    remedy: 'Mend the store; `details.storeCode` says what it reported.',
  },
  AUDIT_ENTRY_TOO_LARGE: {
    meaning: 'An entry is larger than a log takes.',
    remedy: 'Record less: leave `recordArguments` off, or offer fewer tools at once.',
  },
  AUDIT_LOG_INVALID: {
    meaning: 'The name of a log is none.',
    remedy: 'Use 1 to 100 letters, digits, dots, hyphens and underscores, with a letter or digit first.',
  },
  AUDIT_LOG_FOREIGN: {
    meaning: 'The last entry of the log is not what this package wrote there.',
    remedy: 'Run verify, keep the log as evidence, and go on with another log.',
  },
  AUDIT_KEY_UNKNOWN: {
    meaning: 'The log goes on under a key that was not given.',
    remedy: 'Give that key as `key`, or among `previousKeys` where another one follows it.',
  },
  AUDIT_CHAIN_BROKEN: {
    meaning: 'Nothing is signed, proven or turned into another format that is not what was written.',
    remedy: 'Run verify: it names what was changed.',
  },
  AUDIT_SIGNER_MISSING: {
    meaning: 'A checkpoint was asked for and there is no signing key.',
    remedy: 'Give `checkpoints: { id, privateKey }`.',
  },
  AUDIT_ERASURE_INVALID: {
    meaning: 'An erasure does not say whose values it means, or who asked.',
    remedy: 'Give `by`, `reason`, and at least one of `subject`, `tenant` and `ids`.',
  },
  AUDIT_RUN_UNKNOWN: {
    meaning: 'The log holds no entry of this run.',
    remedy: 'Give the root execution id of the run, and its log where there are several.',
  },
} satisfies Readonly<Record<string, AuditErrorRow>>)

/** A code of {@link AUDIT_ERROR_CODES}. */
export type AuditErrorCode = keyof typeof AUDIT_ERROR_CODES
