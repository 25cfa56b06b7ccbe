import type { JsonObject, JsonValue } from '@sluice/core'
import type { FaultList } from './fault-list.js'
import { shown } from './fault-list.js'
import type { Path, Resolved } from './path.js'
import { isReserved } from './path.js'
import type { Template } from './template.js'
import { compileTemplate, renderTemplate } from './template.js'

/** Where the value of a parameter comes from. */
export type ValueSource =
  | { readonly kind: 'constant'; readonly value: JsonValue }
  | { readonly kind: 'template'; readonly template: Template }
  | {
      readonly kind: 'path'
      readonly path: Path
      readonly optional: boolean
      readonly fallback: { readonly value: JsonValue } | undefined
    }

/** The parameters of a step, in the order in which they were written (W-11). */
export type InputMapping = readonly (readonly [parameter: string, source: ValueSource])[]

/** What a source needs of the state, and whom it tells of what is missing. */
export interface Reader {
  resolve(path: Path): Resolved
  /** A reference inside a text has no value and leaves nothing (W-15). */
  warn(path: Path): void
}

/** What a source came to; `missing` where it may not do without a value. */
export type Read =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'omitted' }
  | { readonly kind: 'missing'; readonly path: Path }

const EXTENDED = ['path', 'optional', 'default']
const ALIAS = ['expression', 'is_plsql_expression']

/** Reads an `input_mapping` (W-11 to W-19); its faults are noted under `place`. */
export function parseMapping(place: string, given: unknown, roots: readonly string[], faults: FaultList): InputMapping {
  if (!isObject(given)) {
    faults.add(place, 'must be an object of parameters')
    return []
  }
  const mapping: [string, ValueSource][] = []
  for (const [parameter, value] of Object.entries(given)) {
    const at = `${place}[${shown(parameter)}]`
    if (parameter === '' || isReserved(parameter)) {
      faults.add(at, 'is no name of a parameter')
      continue
    }
    const source = parseSource(at, value, roots, faults)
    if (source !== undefined) mapping.push([parameter, source])
  }
  return mapping
}

/** Reads where one value comes from: a text, a number, a truth value, or the extended form. */
export function parseSource(
  place: string,
  given: unknown,
  roots: readonly string[],
  faults: FaultList,
): ValueSource | undefined {
  if (typeof given === 'string') return parseText(place, given, roots, faults)
  if (typeof given === 'boolean' || (typeof given === 'number' && Number.isFinite(given)))
    return { kind: 'constant', value: given }
  if (isObject(given)) {
    if (ALIAS.some((key) => Object.hasOwn(given, key))) return parseAlias(place, given, roots, faults)
    return parseExtended(place, given, roots, faults)
  }
  faults.add(place, 'must be a text, a number, a truth value, or an object with a `path`')
  return undefined
}

/** The paths that a source reads. */
export function pathsOf(source: ValueSource): readonly Path[] {
  if (source.kind === 'constant') return []
  return source.kind === 'path' ? [source.path] : source.template.paths
}

/** Reads the value of a source (W-14 to W-17). */
export function readSource(source: ValueSource, reader: Reader): Read {
  if (source.kind === 'constant') return { kind: 'value', value: source.value }
  if (source.kind === 'template') {
    const text = renderTemplate(
      source.template,
      (path) => reader.resolve(path),
      (path) => reader.warn(path),
    )
    return { kind: 'value', value: text }
  }
  const { path, fallback, optional } = source
  const resolved = reader.resolve(path)
  if (resolved.found && (resolved.value !== null || fallback === undefined))
    return { kind: 'value', value: resolved.value }
  if (fallback !== undefined) return { kind: 'value', value: fallback.value }
  return optional ? { kind: 'omitted' } : { kind: 'missing', path }
}

/** The parameters of a step; `missing` is thrown at for one that has no value. */
export function mapInput(
  mapping: InputMapping,
  reader: Reader,
  missing: (parameter: string, path: Path) => Error,
): JsonObject {
  const input: Record<string, JsonValue> = {}
  for (const [parameter, source] of mapping) {
    const read = readSource(source, reader)
    if (read.kind === 'missing') throw missing(parameter, read.path)
    if (read.kind === 'value') input[parameter] = read.value
  }
  return input
}

function parseText(place: string, text: string, roots: readonly string[], faults: FaultList): ValueSource | undefined {
  const template = compileTemplate(text, roots)
  if ('faults' in template) {
    for (const fault of template.faults) faults.add(place, fault)
    return undefined
  }
  if (template.whole !== undefined) return { kind: 'path', path: template.whole, optional: false, fallback: undefined }
  if (template.paths.length > 0) return { kind: 'template', template }
  return { kind: 'constant', value: template.pieces.join('') }
}

function parseExtended(
  place: string,
  given: Readonly<Record<string, unknown>>,
  roots: readonly string[],
  faults: FaultList,
): ValueSource | undefined {
  faults.addUnknown(place, given, EXTENDED)
  const { optional = false } = given
  if (typeof optional !== 'boolean') faults.add(`${place}.optional`, 'must be true or false')
  const path = parseWhole(`${place}.path`, given.path, roots, faults)
  if (path === undefined) return undefined
  const fallback = Object.hasOwn(given, 'default') ? { value: given.default as JsonValue } : undefined
  return { kind: 'path', path, optional: optional === true, fallback }
}

function parseWhole(place: string, given: unknown, roots: readonly string[], faults: FaultList): Path | undefined {
  if (typeof given !== 'string') {
    faults.add(place, "must be one reference like '{$.steps.review.notes}'")
    return undefined
  }
  const template = compileTemplate(given.startsWith('$.') ? `{${given}}` : given, roots)
  if ('faults' in template) for (const fault of template.faults) faults.add(place, fault)
  else if (template.whole === undefined) faults.add(place, 'must be one reference and nothing else')
  else return template.whole
  return undefined
}

/** The older spelling of the simple form (W-19). */
function parseAlias(
  place: string,
  given: Readonly<Record<string, unknown>>,
  roots: readonly string[],
  faults: FaultList,
): ValueSource | undefined {
  faults.addUnknown(place, given, ALIAS)
  if ((given.is_plsql_expression ?? false) !== false) {
    faults.add(place, 'is code of a database, which is never run: name a path, or let an agent work it out')
    return undefined
  }
  if (typeof given.expression === 'string') return parseText(place, given.expression, roots, faults)
  faults.add(`${place}.expression`, 'must be a text')
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
