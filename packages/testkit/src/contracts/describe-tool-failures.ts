import { describe, it } from 'vitest'
import type { MakeWiredProvider, ToolFailureOptions } from './tool-failure-rig.js'
import { toolFailureRows } from './tool-failure-rows.js'

/**
 * Runs veto, fail-closed, handler failure and the bound of tool calls on the shipped fixtures of a provider's protocol, and
 * compares with its row: who throws and who returns a tool error, who throws and who finishes at the bound.
 *
 * @example
 * describeToolFailures('openai', ({ apiKey }) => openai({ apiKey }))
 */
export function describeToolFailures(
  name: string,
  makeProvider: MakeWiredProvider,
  options: ToolFailureOptions = {},
): void {
  describe(`tool failures: ${name}`, () => {
    for (const row of toolFailureRows(makeProvider, options)) it(row.title, () => row.run())
  })
}
