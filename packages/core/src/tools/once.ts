import type { JsonValue, MaybePromise } from '../internal/json.js'
import type { OnceKeys } from './tool-definition.js'

/**
 * The body of `tool.once`: effect and key in one transaction. Where the key is there, its result comes back; else `fn`
 * runs and its result is kept. A failing `fn` keeps nothing.
 */
export async function runOnce<Result extends JsonValue>(
  keys: OnceKeys,
  key: string,
  fn: () => MaybePromise<Result>,
): Promise<Result> {
  const kept = await keys.get(key)
  if (kept !== undefined) return kept as Result
  const result = await fn()
  await keys.put(key, result)
  return result
}
