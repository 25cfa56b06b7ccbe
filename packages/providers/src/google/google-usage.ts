import type { UsageReading } from '../shared/usage-classes.js'
import { disjointUsage } from '../shared/usage-classes.js'
import { isWire, wireCount } from '../shared/wire-json.js'

/**
 * Usage of generateContent: cached tokens stand inside the prompt; thoughts stand beside the candidates, and what tools at
 * the provider put into the prompt beside the prompt. A count of 0 is left out on this wire, so where nothing is said of
 * the output, what the total leaves for it is its count.
 */
export function googleUsage(metadata: unknown): UsageReading {
  const figures = isWire(metadata) ? metadata : {}
  const total = wireCount(figures.totalTokenCount)
  const reasoning = wireCount(figures.thoughtsTokenCount)
  const input = sum(wireCount(figures.promptTokenCount), wireCount(figures.toolUsePromptTokenCount))
  const output = sum(wireCount(figures.candidatesTokenCount), reasoning)
  const left = input === null || total === null || total < input ? null : total - input
  return disjointUsage({
    input,
    cacheRead: wireCount(figures.cachedContentTokenCount),
    cacheWrite: null,
    output: output ?? left,
    reasoning,
    total,
  })
}

function sum(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : left + right
}
