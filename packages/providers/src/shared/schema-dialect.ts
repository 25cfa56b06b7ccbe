import type { Protocol } from '@sluice/core'

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
  /** Bounds of the protocol for one schema. */
  readonly deepest: number
  readonly mostProperties: number
  readonly mostEnumValues: number
}

const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])

/**
 * OpenAI's strict mode, the same for both of its protocols.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export function openaiStrict(protocol: Protocol): SchemaDialect {
  return {
    protocol,
    optional: 'nullable',
    constraints: new Set([
      'pattern',
      'format',
      'multipleOf',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'minItems',
      'maxItems',
    ]),
    formats: FORMATS,
    mostMinItems: Number.POSITIVE_INFINITY,
    recursion: true,
    deepest: 10,
    mostProperties: 5000,
    mostEnumValues: 1000,
  }
}

/**
 * Anthropic's structured outputs.
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export const ANTHROPIC_STRICT: SchemaDialect = {
  protocol: 'anthropic-messages',
  optional: 'absent',
  constraints: new Set(['format', 'minItems']),
  formats: new Set([...FORMATS, 'uri']),
  mostMinItems: 1,
  recursion: false,
  deepest: 100,
  mostProperties: 5000,
  mostEnumValues: 5000,
}
