import type { Protocol } from '@sluice/core'
import { SluiceError } from '@sluice/core'

/** One place of a schema that a protocol cannot express. */
export interface SchemaFault {
  /** Where in the data it is: `address.tags[]`; `(root)` for the whole. */
  readonly path: string
  readonly problem: string
}

/** The refusal of a schema, all its faults at once. */
export function schemaUnsupported(
  protocol: Protocol,
  use: 'tool' | 'output',
  faults: readonly SchemaFault[],
): SluiceError {
  const what = use === 'tool' ? 'input schema of a tool' : 'answer schema'
  const list = faults.map((fault) => `${fault.path}: ${fault.problem}`).join('; ')
  return new SluiceError('SCHEMA_UNSUPPORTED', `The protocol ${protocol} cannot express this ${what}: ${list}.`, {
    details: { protocol, use, faults: faults.map(({ path, problem }) => ({ path, problem })) },
  })
}
