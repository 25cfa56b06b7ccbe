import type { Message, ToolDefinition } from '@sluice/core'
import { defineTool } from '@sluice/core'
import { z } from 'zod'
import { callsOf } from '../orchestration/managed-messages.js'
import type { Target } from './handoff-config.js'

const INPUT = z.object({
  context: z.string().describe('A summary for the next agent: what the user wants, and what is known so far.'),
  reason: z.string().optional().describe('Why this agent is the right one.'),
})

/** Control that an agent handed over. */
export interface Transfer {
  readonly to: string
  readonly context: string
  readonly reason: string | undefined
}

/** The tools by which an agent hands over, one for each permitted target (F-5, F-6): there is no other way to name one (F-W3). */
export function transferTools(targets: readonly Target[]): readonly ToolDefinition[] {
  return targets.map(
    ({ code, toolName, description }) =>
      defineTool({
        code: toolName,
        description,
        effect: 'read',
        input: INPUT,
        endsCall: true,
        handler: () => `The conversation was handed over to ${code}.`,
      }) as ToolDefinition,
  )
}

/** The transfer with which a hop ended; `undefined` where its answer is final (F-10). */
export function transferOf(messages: readonly Message[], targets: readonly Target[]): Transfer | undefined {
  const results = messages.at(-1)
  const asked = messages.at(-2)
  if (results?.role !== 'tool' || asked?.role !== 'assistant') return undefined
  for (const { toolCallId, toolName, status } of results.content) {
    const target = status === 'ok' ? targets.find((one) => one.toolName === toolName) : undefined
    const call = callsOf(asked).find((one) => one.toolCallId === toolCallId)
    if (target !== undefined && call !== undefined) return { to: target.code, ...argumentsOf(call.args) }
  }
  return undefined
}

/** The arguments have passed the schema when the tool ran; of what else stands there nothing is read. */
function argumentsOf(args: string): Omit<Transfer, 'to'> {
  const { context, reason } = JSON.parse(args) as { readonly context: string; readonly reason?: string | null }
  return { context, reason: reason ?? undefined }
}
