import { Veto } from '@sluice/core'
import type { AfterToolCallContext, InspectToolInputContext, JsonObject } from '@sluice/core'
import { attemptClosed, exhausted } from './budget-veto.js'
import { boundsAfter, boundsFor, factsOf, twice } from './guard-parts.js'
import type { GuardParts } from './guard-parts.js'
import { parseUsd } from './nano-usd.js'
import { settleToolCall } from './settlement.js'

/** Holds the declared cost of a tool before it runs and books it after. A tool without a cost is no business of a budget. */
export function createToolCallGuard({ ledger, limits, tell }: GuardParts) {
  const money = limits.filter((limit) => limit.unit === 'usd')

  async function hold(context: InspectToolInputContext): Promise<void> {
    const { effectId, attempt, toolCode, tool } = context
    if (tool.cost === null) return
    const bounds = boundsFor(money, factsOf(context))
    if (bounds.length === 0) return
    const cost = parseUsd(tool.cost.usd)
    if (cost === undefined) {
      const text = `The cost of tool "${toolCode}" is no amount of US dollars; write a decimal string such as '0.01'.`
      throw new Veto('TOOL_COST_INVALID', text, { tool: toolCode })
    }
    const asks = bounds.map((bound) => ({ ...bound, amountFor: () => cost }))
    const request = { effectId, attempt, asks, outputTokens: 0n, mayLand: false, held: describeTool(context) }
    const { answer, events } = await ledger.hold(request, { signal: context.signal })
    tell(events)
    if (answer.kind === 'closed') throw attemptClosed(effectId, attempt)
    if (answer.kind === 'refused') throw exhausted(`The call of tool "${toolCode}"`, answer.shortage, null)
  }

  async function settle(context: AfterToolCallContext): Promise<void> {
    if (context.tool.cost === null) return
    const bounds = boundsAfter(money, factsOf(context))
    if (bounds === undefined) return
    const { events } = await twice(() => ledger.close(context, bounds, limits, () => settleToolCall(context)))
    tell(events)
  }

  return { hold, settle }
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
