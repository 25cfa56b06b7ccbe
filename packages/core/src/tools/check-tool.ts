import type { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { isPlainObject } from '../internal/json.js'
import type { Label } from '../messages/label.js'

const CODE = /^[A-Za-z0-9_-]{1,64}$/
const USD = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/
const NONE: readonly Label[] = Object.freeze([])

/** Checks the options that tools of both kinds share: code, description, effect, untrusted, cost. */
export function checkCommonOptions(options: Readonly<Record<string, unknown>>, faults: Faults): void {
  const { code, description, effect, untrusted, cost } = options
  if (typeof code !== 'string' || !CODE.test(code))
    faults.add('code', 'must be 1 to 64 letters, digits, underscores and hyphens')
  if (description !== undefined && (typeof description !== 'string' || description.trim() === ''))
    faults.add('description', 'must be a text that tells the model what the tool does')
  if (effect !== undefined && effect !== 'read' && effect !== 'write' && effect !== 'send')
    faults.add('effect', "must be 'read', 'write' or 'send'")
  if (untrusted !== undefined && typeof untrusted !== 'boolean') faults.add('untrusted', 'must be true or false')
  if (cost !== undefined && !isCost(cost))
    faults.add('cost', "must be { usd: '0.01' }: a decimal text, not negative, with at most nine decimals")
}

function isCost(cost: unknown): boolean {
  return isPlainObject(cost) && Object.keys(cost).length === 1 && typeof cost.usd === 'string' && USD.test(cost.usd)
}

/** The options as a record; where they are no plain object nothing else can be said about them. */
export function optionsRecord(options: unknown, where: string): Readonly<Record<string, unknown>> {
  if (isPlainObject(options)) return options
  throw new SluiceError('INVALID_CONFIG', `${where} takes one plain object of options.`, { reason: 'tool.definition' })
}

/** The labels of what comes from a source: one that names it where it is untrusted, else none. */
export function sourceLabels(kind: 'tool' | 'hosted', source: string, untrusted: boolean): readonly Label[] {
  return untrusted ? Object.freeze([Object.freeze({ kind, source })]) : NONE
}
