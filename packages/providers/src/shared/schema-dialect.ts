import type { Protocol } from '@sluice/core'
import type { ProtocolBehaviour } from '../behaviour/protocol-behaviour.js'

/** What the strict form of one protocol's JSON Schema can say. */
export interface SchemaDialect {
  readonly protocol: Protocol
  /** What becomes of a key that may be absent: `nullable` makes it required and lets it be `null`. */
  readonly optional: 'nullable' | 'absent'
  /** Constraints that the wire schema carries; the others go into the description, and our validation enforces them. */
  readonly constraints: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  /** The largest `minItems` that is carried. */
  readonly mostMinItems: number
  readonly recursion: boolean
  /** True where keys that are not named can be described (`additionalProperties` with a schema). */
  readonly records?: boolean
  /** True where the items of a list can be described one by one (`prefixItems`). */
  readonly tuples?: boolean
  /** `enum` where the protocol has no `const`, and lists strings and numbers only. */
  readonly literals?: 'enum'
  /** Bounds of the protocol for one schema. */
  readonly deepest: number
  readonly mostProperties: number
  readonly mostEnumValues: number
}

/** The strict form of a protocol, as its row says. */
export function strictDialect({ protocol, schemas }: ProtocolBehaviour): SchemaDialect {
  const { constraints, formats, bounds } = schemas
  return {
    protocol,
    optional: schemas.optionalKeys,
    constraints: new Set(constraints),
    formats: new Set(formats),
    mostMinItems: bounds.minItems ?? Number.POSITIVE_INFINITY,
    recursion: schemas.recursion,
    deepest: bounds.depth ?? Number.POSITIVE_INFINITY,
    mostProperties: bounds.properties ?? Number.POSITIVE_INFINITY,
    mostEnumValues: bounds.enumValues ?? Number.POSITIVE_INFINITY,
  }
}
