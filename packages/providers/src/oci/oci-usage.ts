import type { UsageReading } from '../shared/usage-classes.js'
import { disjointUsage } from '../shared/usage-classes.js'
import { isWire, wireCount, wireObject } from '../shared/wire-json.js'

/** Usage of both protocols: the prompt total contains what was read from the cache, the completion its reasoning. */
export function ociUsage(usage: unknown): UsageReading {
  const figures = isWire(usage) ? usage : {}
  return disjointUsage({
    input: wireCount(figures.promptTokens),
    cacheRead: wireCount(wireObject(figures.promptTokensDetails).cachedTokens),
    cacheWrite: null,
    output: wireCount(figures.completionTokens),
    reasoning: wireCount(wireObject(figures.completionTokensDetails).reasoningTokens),
    total: wireCount(figures.totalTokens),
  })
}
