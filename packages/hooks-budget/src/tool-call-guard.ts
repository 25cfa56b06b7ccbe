import { Veto } from '@sluice/core'
import type { AfterToolCallContext, InspectToolInputContext, JsonObject, ToolInfo } from '@sluice/core'
import { attemptClosed, exhausted, holdDiffers } from './budget-veto.js'
import { boundsAfter, boundsFor, factsOf } from './guard-parts.js'
import type { GuardParts } from './guard-parts.js'
import { parseUsd } from './nano-usd.js'
import { settleToolCall } from './settlement.js'

/** Holds the declared cost of a tool before it runs and books it after. A tool without a cost, or one that is an agent, holds nothing. */
export function createToolCallGuard({ ledger, limits, tell }: GuardParts) {
  const money = limits.filter((limit) => limit.unit === 'usd')

  async function hold(context: InspectToolInputContext): Promise<void> {
    const { effectId, attempt, toolCode, tool } = context
    if (!isCharged(tool)) return
    const bounds = boundsFor(money, factsOf(context))
    if (bounds.length === 0) return
    const cost = parseUsd(tool.cost.usd)
    if (cost === undefined) {
      const text = `The cost of tool "${toolCode}" is no amount of US dollars; write a decimal string such as '0.01'.`
      throw new Veto('TOOL_COST_INVALID', text, { tool: toolCode })
    }
    const asks = bounds.map((bound) => ({ ...bound, amountFor: () => cost }))
    const request = { effectId, attempt, asks, outputTokens: 0n, kind: 'tool', held: describeTool(context) } as const
    const { answer, events } = await ledger.hold(request, { signal: context.signal })
    tell(events)
    if (answer.kind === 'closed') throw attemptClosed(effectId, attempt)
    if (answer.kind === 'differs') throw holdDiffers(effectId, attempt)
    if (answer.kind === 'refused') throw exhausted(`The call of tool "${toolCode}"`, answer.shortage, null)
  }

  async function settle(context: AfterToolCallContext): Promise<void> {
    if (!isCharged(context.tool)) return
    const bounds = boundsAfter(money, factsOf(context))
    if (bounds === undefined) return
    const { events } = await ledger.close(context, bounds, limits, () => settleToolCall(context))
    tell(events)
  }

  return { hold, settle }
}

/** A tool that is an agent is a wrapper: what it costs is what the calls of its agent cost. */
function isCharged(tool: ToolInfo): tool is ToolInfo & { readonly cost: NonNullable<ToolInfo['cost']> } {
  return tool.cost !== null && tool.agent === null
}

function describeTool(context: InspectToolInputContext): JsonObject {
  const { toolCode, rootExecutionId, executionId, agentCode } = context
  return {
    kind: 'tool_call',
    tool: toolCode,
    usd: context.tool.cost?.usd ?? null,
    rootExecutionId,
    executionId,
    agentCode,
  }
}
