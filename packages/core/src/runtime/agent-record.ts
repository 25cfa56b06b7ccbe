import { journalMismatch } from '../engine/journal-mismatch.js'
import type { ResolvedAgent } from '../agents/agent-type.js'
import type { Steps } from '../engine/engine.js'
import type { JsonObject, JsonValue } from '../internal/json.js'

/** What the journal keeps of the agent of a run: its version, and the digests of its tools. */
export function agentRecord(agent: ResolvedAgent): JsonObject {
  const tools: Record<string, string> = {}
  for (const tool of agent.tools) tools[tool.code] = tool.definitionDigest
  return { code: agent.code, version: agent.version, tools }
}

/** On a replay: the agent has to be the one that was recorded, with the same tools. @throws JOURNAL_MISMATCH, before anything is run */
export async function checkAgentRecord(steps: Steps, agent: ResolvedAgent): Promise<void> {
  const now = agentRecord(agent)
  const then = (await steps.begin('agent', now as JsonValue)) as JsonObject
  const changes: string[] = []
  if (then.code !== now.code || then.version !== now.version)
    changes.push(
      `agent ${String(then.code)} version ${String(then.version)} is now ${String(now.code)} version ${String(now.version)}`,
    )
  const before = then.tools as Readonly<Record<string, string>>
  const after = now.tools as Readonly<Record<string, string>>
  for (const code of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!Object.hasOwn(before, code)) changes.push(`tool ${code} is new`)
    else if (!Object.hasOwn(after, code)) changes.push(`tool ${code} is gone`)
    else if (before[code] !== after[code]) changes.push(`tool ${code} has another definition`)
  }
  if (changes.length === 0) return
  throw journalMismatch(`The run was paused under other definitions: ${changes.join('; ')}. Nothing was run.`, {
    hint: 'Resume with the definitions of the time of the pause, or cancel the run and start another.',
    details: { changes },
  })
}
