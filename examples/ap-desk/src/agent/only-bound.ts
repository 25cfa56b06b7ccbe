import { Refusal, runContextValue } from '@sluice/core'
import type { DeskTool } from './desk-resources.js'

/**
 * Refuses a value that the caller did not bind to the run. Gates do not see arguments, so a rule about values belongs to the
 * tool; what may be asked for comes from the run context, never from the model.
 */
export function onlyBound(key: 'invoice' | 'vendor', value: string, tool: DeskTool): void {
  const bound = runContextValue(tool.runContext, key)
  if (value !== bound) throw new Refusal('AP_NOT_BOUND', `This run is about ${key} ${bound}, not ${value}.`)
}
