import type { JsonObject, ProviderOptions } from '@sluice/core'

/** What the provider `id` left on a part; other providers' data is never read. */
export function ownOptions(options: ProviderOptions | undefined, id: string): JsonObject | undefined {
  if (options === undefined || !Object.hasOwn(options, id)) return undefined
  return options[id]
}

/** Copies the named members of a caller's part options that are there onto the wire form of that part. */
export function copyOptions(target: Record<string, unknown>, options: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    if (Object.hasOwn(options, name)) target[name] = options[name]
  }
}
