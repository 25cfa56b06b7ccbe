import { SluiceError } from '@sluice/core'
import type { Documents } from '@sluice/core'
import { describeLimits } from './budget-options.js'
import type { ParsedBudgetOptions } from './budget-options.js'

/** The first process with a `limitsVersion` writes its limits down; one with other limits is refused. @throws LIMITS_DIFFER */
export async function checkLimitsVersion(documents: Documents, options: ParsedBudgetOptions): Promise<void> {
  const version = options.limitsVersion
  if (version === undefined) return
  const mine = describeLimits(options)
  const there = await documents.update(['limits-version', version], (current) => current ?? mine)
  if (there === mine) return
  throw new SluiceError('LIMITS_DIFFER', `Another process has other limits under limitsVersion "${version}".`, {
    hint: 'Give every process the same limits, and new limits a new limitsVersion.',
    details: { limitsVersion: version, mine, there: there ?? null },
  })
}
