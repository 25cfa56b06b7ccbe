import type { PluginInstance } from '@sluice/core'
import { audit } from '@sluice/hooks-audit'
import { budget } from '@sluice/hooks-budget'
import { approval, killSwitch } from '@sluice/hooks-policy'
import type { DeskKeys } from '../desk/desk-keys.js'

/** Ids of the limits in money. */
export const DESK_MONTH = 'desk-month'
export const CLERK_MONTH = 'clerk-month'

/** US dollars per million tokens: made up, as a controller would write them down. */
const OWN_PRICES = {
  'ollama/qwen3:8b': { input: '1', output: '8' },
  'oci/meta.llama-3.3-70b-instruct': { input: '2', output: '8' },
  'oci/cohere.command-a-03-2025': { input: '2.5', output: '10' },
} as const

const TIME_ZONE = 'Europe/Vienna'
const HOUR_MS = 3_600_000

/**
 * What stands around the desk beside its own two rules. Each knows nothing of the desk and nothing of the others; the order
 * in which they are asked is that of their stages, whatever the order here: the kill switch before everything, the desk's rules,
 * the people, the money, and last the record of what is about to happen.
 */
export function deskGuards(keys: DeskKeys): readonly PluginInstance[] {
  return [
    killSwitch(),
    approval({ tools: ['ap_change_bank_account'], expiresIn: 8 * HOUR_MS, key: keys.approvals }),
    budget({
      // no table knows what a machine of one's own costs, or a contract
      prices: { models: OWN_PRICES },
      limits: [
        { id: 'run', scope: 'run', usd: '1' },
        { id: DESK_MONTH, scope: 'key', key: () => 'desk', per: 'month', timeZone: TIME_ZONE, usd: '200' },
        // a job that runs in nobody's name has no month of its own: it falls under that of the desk
        {
          id: CLERK_MONTH,
          scope: 'key',
          key: ({ user }) => user ?? false,
          per: 'month',
          timeZone: TIME_ZONE,
          usd: '25',
        },
      ],
    }),
    audit({
      log: 'ap-desk',
      key: keys.auditLog,
      checkpoints: keys.auditSigner,
      recordArguments: true,
      redact: { paths: ['data.args.iban', 'data.details.args.iban'] },
    }),
  ]
}

/** Short names of the guards, by the names of their plugins. */
export const GUARD_NAMES: ReadonlyMap<string, string> = new Map([
  ['hooks-policy/kill-switch', 'kill-switch'],
  ['hooks-policy/approval', 'approval'],
  ['hooks-budget', 'budget'],
  ['hooks-audit', 'audit'],
])
