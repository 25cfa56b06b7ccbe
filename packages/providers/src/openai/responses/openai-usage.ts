import { reportedCost } from '../../shared/reported-cost.js'
import type { UsageReading } from '../../shared/usage-classes.js'
import { disjointUsage } from '../../shared/usage-classes.js'
import { isWire, wireCount, wireObject } from '../../shared/wire-json.js'

/** Usage of the Responses API: the input total contains what was read from, and written to, the cache. */
export function openaiUsage(usage: unknown): UsageReading {
  const figures = isWire(usage) ? usage : {}
  const input = wireObject(figures.input_tokens_details)
  const output = wireObject(figures.output_tokens_details)
  const reading = disjointUsage({
    input: wireCount(figures.input_tokens),
    cacheRead: wireCount(input.cached_tokens),
    cacheWrite: wireCount(input.cache_write_tokens),
    output: wireCount(figures.output_tokens),
    reasoning: wireCount(output.reasoning_tokens),
    total: wireCount(figures.total_tokens),
  })
  return { ...reading, ...reportedCost(figures) }
}
