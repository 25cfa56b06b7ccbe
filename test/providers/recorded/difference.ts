import type { Raw } from './raw-json.js'

/** A recorded request body and ours, both free to be changed. */
export interface BodyPair {
  recorded: Raw
  ours: Raw
  /** `openai-chat/refusal#0` */
  readonly name: string
}

/**
 * A difference between a recorded request and ours that is accepted. `apply` takes it out of one or both bodies; what is
 * left afterwards must be equal. One that never has anything to take out makes the suite fail.
 */
export interface AcceptedDifference {
  readonly what: string
  readonly reason: string
  apply(pair: BodyPair): void
}

/** Applies the differences in order and notes which of them had something to do. */
export function reconcile(pair: BodyPair, differences: readonly AcceptedDifference[], used: Set<string>): void {
  for (const difference of differences) {
    const before = JSON.stringify([pair.recorded, pair.ours])
    difference.apply(pair)
    if (JSON.stringify([pair.recorded, pair.ours]) !== before) used.add(difference.what)
  }
}

/** The differences but for the named ones, which the recordings of another server do not have. */
export function without(
  differences: readonly AcceptedDifference[],
  unseen: readonly string[],
): readonly AcceptedDifference[] {
  return differences.filter(({ what }) => !unseen.includes(what))
}

export function dropMembers(object: Raw | undefined, ...names: string[]): void {
  for (const name of names) if (object !== undefined) delete object[name]
}

/** Every object inside a value, the value itself first. */
export function objectsIn(value: unknown): Raw[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  if (typeof value !== 'object' || value === null) return []
  return [value as Raw, ...Object.values(value).flatMap(objectsIn)]
}

/** Turns text that stands where a list of parts may stand into such a list. */
export function asParts(object: Raw, type: string): void {
  if (typeof object.content === 'string') object.content = [{ type, text: object.content }]
}

/** JSON text as its value, so that white space does not count. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A tool or answer schema as far as both sides must agree: the names of its keys, at every level. */
export function schemaShape(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return {}
  const { properties, items, anyOf, oneOf, $defs, definitions } = schema as Raw
  const shapes = (map: Raw | undefined) =>
    map === undefined
      ? undefined
      : Object.fromEntries(Object.entries(map).map(([key, value]) => [key, schemaShape(value)]))
  const variants = (anyOf ?? oneOf) as unknown[] | undefined
  const named = variants?.map(schemaShape).filter((shape) => JSON.stringify(shape) !== '{}')
  return {
    ...(properties === undefined || Object.keys(properties).length === 0 ? {} : { properties: shapes(properties) }),
    ...(items === undefined ? {} : { items: schemaShape(items) }),
    ...(named === undefined || named.length === 0 ? {} : { variants: named }),
    ...($defs === undefined && definitions === undefined ? {} : { definitions: shapes($defs ?? definitions) }),
  }
}
