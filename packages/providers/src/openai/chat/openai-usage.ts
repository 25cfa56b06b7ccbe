import { reportedCost } from '../../shared/reported-cost.js'
import type { UsageReading } from '../../shared/usage-classes.js'
import { disjointUsage } from '../../shared/usage-classes.js'
import { isWire, wireCount, wireObject } from '../../shared/wire-json.js'

/** Usage of Chat Completions and its relatives: the prompt total contains what was read from, and written to, the cache. */
export function openaiUsage(usage: unknown): UsageReading {
  const figures = isWire(usage) ? usage : {}
  const prompt = wireObject(figures.prompt_tokens_details)
  const completion = wireObject(figures.completion_tokens_details)
  const reading = disjointUsage({
    input: wireCount(figures.prompt_tokens),
    cacheRead: wireCount(prompt.cached_tokens) ?? wireCount(figures.prompt_cache_hit_tokens),
    cacheWrite: wireCount(prompt.cache_write_tokens),
    output: wireCount(figures.completion_tokens),
    reasoning: wireCount(completion.reasoning_tokens),
    total: wireCount(figures.total_tokens),
  })
  return { ...reading, ...reportedCost(figures) }
}
