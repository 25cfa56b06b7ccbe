import { KeyObject } from 'node:crypto'
import type { AfterModelCallContext } from '@sluice/core'
import { z } from 'zod'
import type { AuditCheckpoint } from './checkpoint.js'
import type { EntryPath } from './entry-path.js'
import { parseEntryPath } from './entry-path.js'

/** By what a log is chosen: the same for every entry of a run. */
export interface LogFacts {
  readonly tenant: string | null
  readonly createdBy: string | null
}

const LOG_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const DECIMAL = /^\d{1,15}(\.\d{1,9})?$/

/** True for 1 to 100 letters, digits, dots, hyphens and underscores, with a letter or digit first. */
export function isLogName(name: unknown): name is string {
  return typeof name === 'string' && LOG_NAME.test(name)
}

/** True for an amount of dollars as decimal text, with at most nine digits behind the point. */
export function isAmount(usd: unknown): usd is string {
  return typeof usd === 'string' && DECIMAL.test(usd)
}

const keyId = z.string().min(1).max(100)

const macKey = z.strictObject({
  id: keyId,
  secret: z.custom<KeyObject>(
    (value) => value instanceof KeyObject && value.type === 'secret' && (value.symmetricKeySize ?? 0) >= 32,
    'a secret KeyObject of at least 32 bytes is wanted: createSecretKey(bytes) of node:crypto',
  ),
})

const callback = <Call>(): z.ZodCustom<Call, Call> =>
  z.custom<Call>((value) => typeof value === 'function', 'a function is wanted')

const signer = z.strictObject({
  id: keyId,
  privateKey: z.custom<KeyObject>(
    (value) => value instanceof KeyObject && value.type === 'private' && value.asymmetricKeyType === 'ed25519',
    'an Ed25519 private KeyObject is wanted: createPrivateKey(pem) of node:crypto',
  ),
  everyEntries: z.int().min(1).max(1_000_000_000).optional(),
  keep: callback<(checkpoint: AuditCheckpoint) => void | Promise<void>>().optional(),
})

const path = z.string().transform((text, context): EntryPath => {
  const parsed = parseEntryPath(text)
  if (parsed === undefined) {
    context.addIssue({ code: 'custom', message: 'no path to what may be taken out; write data.args.email or actor' })
    return []
  }
  return parsed
})

const fields = z.strictObject({
  log: z
    .union([
      z.string().regex(LOG_NAME, 'letters, digits, dots, hyphens and underscores'),
      callback<(facts: LogFacts) => string>(),
    ])
    .default('audit'),
  key: macKey.optional(),
  keyedFrom: z.union([z.int().min(0), callback<(log: string) => number>()]).default(0),
  previousKeys: z.array(macKey).max(20).default([]),
  checkpoints: signer.optional(),
  recordArguments: z.boolean().default(false),
  redact: z
    .strictObject({
      paths: z.array(path).max(200).default([]),
      patterns: z.array(z.instanceof(RegExp)).max(200).default([]),
      values: callback<() => readonly string[]>().optional(),
    })
    .default({ paths: [], patterns: [] }),
  personal: z.array(path).max(200).default([]),
  costUsd: callback<(call: AfterModelCallContext) => string | null>().optional(),
})

/** Options of `audit()`: strict, all of them optional. */
export const auditOptions = fields.refine(({ key, previousKeys }) => {
  const ids = [...previousKeys, ...(key === undefined ? [] : [key])].map(({ id }) => id)
  return new Set(ids).size === ids.length
}, 'each key needs an id of its own: an entry tells its key by the id alone')

/** What `audit()` takes. */
export type AuditOptions = z.input<typeof auditOptions>
/** The options as the plugin reads them. */
export type ReadAuditOptions = z.output<typeof auditOptions>
