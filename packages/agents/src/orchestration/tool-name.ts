import { createHash } from 'node:crypto'

const SAFE = /^[A-Za-z_][A-Za-z0-9_-]*$/
const LONGEST = 64
const DIGITS = 8

/**
 * The name under which a model is offered an agent (O-5): the code where every provider takes it as a name, else what can be
 * kept of it with a digest of the whole. It follows from the code alone, so it is the same in every turn (O-14).
 */
export function toolNameOf(code: string, prefix = ''): string {
  const wanted = `${prefix}${code}`
  if (SAFE.test(wanted) && wanted.length <= LONGEST) return wanted
  const digest = createHash('sha256').update(code).digest('hex').slice(0, DIGITS)
  const kept = wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
  return `${kept.slice(0, LONGEST - DIGITS - 1)}_${digest}`
}
