import { SluiceError } from '../errors/sluice-error.js'

/** Which calls a rule is about. */
export interface AppliesToOptions {
  /** Code of the agent; left out: every agent. */
  readonly agent?: string | readonly string[]
  /** Code of the tool; left out: every tool. */
  readonly tool?: string | readonly string[]
  /** Whether a call outside any agent, whose agent code is `null`, counts as one of them. It has to be said (B-8, B-W5). */
  readonly standalone: 'include' | 'exclude'
}

/** The part of a context that {@link appliesTo} looks at. */
export interface AppliesToContext {
  readonly agentCode: string | null
  readonly toolCode?: string | null
}

/**
 * Narrows a gate to the calls that it is about: `const guarded = appliesTo({ agent: 'ap_desk', tool: 'ap_approve_invoice',
 * standalone: 'include' })`, then `if (!guarded(ctx)) return`. A comparison with the agent code alone would silently exempt
 * plain calls, where it is `null`.
 */
export function appliesTo(options: AppliesToOptions): (context: AppliesToContext) => boolean {
  const { standalone } = options
  if (standalone !== 'include' && standalone !== 'exclude') {
    throw new SluiceError(
      'INVALID_CONFIG',
      "appliesTo needs `standalone: 'include'` or `'exclude'`: it decides whether calls outside any agent are guarded.",
      {
        reason: 'applies_to.standalone',
      },
    )
  }
  const agents = listOf(options.agent)
  const tools = listOf(options.tool)
  return ({ agentCode, toolCode }) => {
    if (tools !== undefined && !(typeof toolCode === 'string' && tools.includes(toolCode))) return false
    if (agentCode === null) return standalone === 'include'
    return agents === undefined || agents.includes(agentCode)
  }
}

function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : typeof value === 'string' ? [value] : [...value]
}
