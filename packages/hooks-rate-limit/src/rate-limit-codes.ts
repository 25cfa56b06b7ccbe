/** One row of the table of codes of this package. */
export interface RateLimitCodeRow {
  /** What the gate answers with: the kind decides what follows for the run. */
  readonly answer: 'Veto' | 'Veto or Wait'
  readonly meaning: string
  readonly remedy: string
}

const row = (answer: RateLimitCodeRow['answer'], meaning: string, remedy: string): RateLimitCodeRow => ({
  answer,
  meaning,
  remedy,
})

/** Every code that the gates of this package answer with. Codes are never renamed. */
export const RATE_LIMIT_CODES = Object.freeze({
  RATE_LIMIT_EXCEEDED: row(
    'Veto or Wait',
    'A limit, or what a provider said of its own, has no room for the call now.',
    'Try again after `details.retryAfterMs`, allow waiting, or raise the limit.',
  ),
  RATE_LIMIT_NEVER_FITS: row(
    'Veto',
    'The limit is 0, or one call asks for more than the whole of it: waiting does not help.',
    'Ask for less, or raise the limit.',
  ),
  RATE_LIMIT_TOKENS_UNKNOWN: row(
    'Veto',
    'Tokens are limited, and the input of a request has no upper bound (files).',
    'Send it as text, or count model calls.',
  ),
  RATE_LIMIT_UNAVAILABLE: row(
    'Veto',
    'The store failed, or a stored document is damaged, so nobody knows whether there is room.',
    'See to the store; `details.storeCode` says what it answered.',
  ),
  RATE_LIMIT_KEY: row(
    'Veto',
    'A key function gave neither a text nor `null`.',
    'Mend the `key` of the limit that `details` names.',
  ),
  SCOPE_UNRESOLVED: row(
    'Veto',
    'A limit is kept per user, tenant, app or session, and the call has none.',
    'Give it in `caller`, or count by another scope.',
  ),
}) satisfies Readonly<Record<string, RateLimitCodeRow>>

/** The codes of {@link RATE_LIMIT_CODES}. */
export type RateLimitCode = keyof typeof RATE_LIMIT_CODES
