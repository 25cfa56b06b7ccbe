import type { AgentRegistry, JsonValue } from '@sluice/core'
import type { MemoryConfig } from './memory-config.js'

/** What is no fault of a memory and yet doubtful. @throws NOT_FOUND where `agents` has no such agent */
export async function memoryWarnings(
  agentCode: string,
  config: MemoryConfig,
  { agents, audience }: { readonly agents?: AgentRegistry; readonly audience?: 'public' | 'authenticated' },
): Promise<readonly string[]> {
  const warnings: string[] = []
  if (config.scope === 'agent' && audience === 'public')
    warnings.push(
      `Agent "${agentCode}" has public callers, and all callers share one memory: what one has it write, another reads. Use scope user or session.`,
    )
  if (agents === undefined) return warnings
  await agents.get({ code: agentCode })
  const { contextKey } = config
  if (contextKey === null) return warnings
  let after: string | undefined
  do {
    const page = await agents.list({ limit: 1_000, ...(after === undefined ? {} : { after }) })
    for (const caller of page.items) {
      if (caller.status === 'archived' || caller.requiredContext.includes(contextKey)) continue
      const parts = [caller.workflowDefinition, caller.orchestrationConfig]
      if (parts.some((part) => part !== null && names(part, agentCode)))
        warnings.push(
          `Version ${caller.version} of "${caller.code}" calls "${agentCode}" and does not require "${contextKey}" in its run context: a run of it that lacks the key fails there.`,
        )
    }
    after = page.next ?? undefined
  } while (after !== undefined)
  return warnings
}

/** True where a definition holds the code as a value or, as maps of edges do, as a key. */
function names(value: JsonValue, code: string): boolean {
  if (value === code) return true
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([key, part]) => key === code || names(part as JsonValue, code))
}
