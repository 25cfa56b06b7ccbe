import type { Wire } from './wire-json.js'
import { parseObject } from './wire-json.js'

/**
 * The arguments of a call for a protocol that takes them as an object: text that is none is shown to the model as it
 * wrote it.
 */
export function toolInput(args: string): Wire {
  if (args === '') return {}
  return parseObject(args) ?? { invalid_json: args }
}
