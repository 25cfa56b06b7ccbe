/** A JSON object as it came off the wire, or as it will go onto it: nothing in it is trusted to have a type. */
export type Wire = Record<string, unknown>

const EMPTY: readonly unknown[] = Object.freeze([])

/** True for objects that are no arrays. */
export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object, or an empty one. */
export function wireObject(value: unknown): Wire {
  return isWire(value) ? value : {}
}

/** The array, or an empty one. */
export function wireList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : EMPTY
}

/** The string, or an empty one. */
export function wireText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The string where there is one with something in it. */
export function wireName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The number where it is a finite one that is not negative: a count of tokens; `null` where none was reported. */
export function wireCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

/** JSON text as an object; `undefined` where it is anything else. */
export function parseObject(text: string): Wire | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isWire(value) ? value : undefined
  } catch {
    return undefined
  }
}
