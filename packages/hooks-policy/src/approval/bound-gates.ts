import type { PluginStamp } from '@sluice/core'

/** The gate plugins of a run as an approval is bound to them: name, version and digest of the options of each. */
export function gatesText(plugins: readonly PluginStamp[]): string {
  return JSON.stringify(plugins.map(stampText).sort())
}

/** Whether all gate plugins of one text stand, unchanged, in another. */
export function gatesHold(bound: string, now: string): boolean {
  const before = stampsOf(bound)
  const there = new Set(stampsOf(now))
  return before !== undefined && before.every((stamp) => there.has(stamp))
}

/** The text comes out of the store, where somebody may have written something else. */
function stampsOf(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function stampText({ name, version, optionsDigest }: PluginStamp): string {
  return JSON.stringify([name, version, optionsDigest])
}
