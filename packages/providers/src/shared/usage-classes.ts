import type { JsonObject, Usage } from '@sluice/core'
import { USAGE_NOT_REPORTED } from '@sluice/core'

/** Token figures of a protocol that counts cached tokens inside its input total; `null` where one was not reported. */
export interface TotalFigures {
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly output: number | null
  readonly reasoning: number | null
  readonly total: number | null
}

export interface UsageReading {
  readonly usage: Usage
  readonly usageMismatch?: JsonObject
  readonly reportedUsd?: string
}

/** The reading of a reply without figures. */
export const NOT_REPORTED: UsageReading = Object.freeze({ usage: USAGE_NOT_REPORTED })

/**
 * Makes the input classes disjoint, and reasoning a part of the output. Some servers count reasoning beside the output:
 * that is told by their own total, or by a part that is larger than the whole. What still does not add up to the
 * provider's total is reported as it came, with the mismatch beside it (CASE-11).
 */
export function disjointUsage(figures: TotalFigures): UsageReading {
  const { input, cacheRead, cacheWrite, reasoning, total } = figures
  if (input === null && figures.output === null) return NOT_REPORTED
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const fresh = input === null ? null : input - cached
  const output = outputWithReasoning(figures)
  const usage: Usage = {
    inputTokens: fresh === null || fresh < 0 ? input : fresh,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    reasoningTokens: reasoning,
    unreportedCalls: 0,
  }
  const sum = (usage.inputTokens ?? 0) + cached + (output ?? 0)
  const complete = input !== null && output !== null
  if ((total !== null && complete && total !== sum) || (fresh !== null && fresh < 0)) {
    return { usage, usageMismatch: { reportedTotal: total, sumOfClasses: sum, reportedInput: input, cached } }
  }
  return { usage }
}

function outputWithReasoning({ input, output, reasoning, total }: TotalFigures): number | null {
  if (output === null || reasoning === null || reasoning === 0) return output
  const beside = total !== null && input !== null && total === input + output + reasoning
  return beside || reasoning > output ? output + reasoning : output
}
