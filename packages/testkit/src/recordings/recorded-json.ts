/** A JSON object of a recorded body. */
export type Wire = Readonly<Record<string, unknown>>

export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function listOf(value: unknown): readonly Wire[] {
  return Array.isArray(value) ? value.filter(isWire) : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The members of an object that are not among the named ones. */
export function without(object: Wire, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}
