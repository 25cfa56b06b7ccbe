import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { MaybePromise } from '../internal/json.js'
import { isThenable, ownValue } from '../internal/json.js'
import type { OutputFormat } from '../providers/model-provider.js'
import type { CompiledSchema, Validation } from '../tools/compile-validator.js'
import { oversize, parseJsonText } from '../tools/parse-arguments.js'
import { issuesText } from '../tools/schema-issue.js'

/** A structured answer that was read and checked. */
export interface ReadOutput<Output> {
  /** As the author's types promise: defaults applied, transforms run. */
  readonly output: Output
  /** Paths of keys that were taken out because they reach a prototype (CASE-22). */
  readonly dropped: readonly string[]
}

/** Bounds of the text, checked before it is parsed. */
export interface OutputBounds {
  /** UTF-8 bytes. Default 8 MiB. */
  readonly maxBytes?: number
  /** Levels of objects and lists. Default 64. */
  readonly maxDepth?: number
}

const DEFAULT_NAME = 'structured_output'
const MAX_NAME = 64

/**
 * Reads a structured answer: the whole text is one JSON value, strictly. A Markdown fence or any other text around it makes
 * it invalid: a model that was asked for a form has to keep it. A `null` for an optional key counts as absent where the
 * schema refuses null; then the value is held to the author's own schema, so that constraints which a provider could not
 * carry hold too (G-47, G-48). Synchronous where the schema is.
 *
 * @throws OUTPUT_INVALID with the path of the first fault in `details.path`
 */
export function readOutput<Output>(
  text: string | null,
  schema: CompiledSchema<Output>,
  bounds: OutputBounds = {},
): MaybePromise<ReadOutput<Output>> {
  if (text === null || text.trim() === '') throw invalid('The structured output is missing: the reply holds no text')
  const size = oversize(text, bounds.maxBytes ?? 8_388_608)
  if (size !== undefined) throw invalid('The structured output is too large')
  const parsed = parseJsonText(text, bounds.maxDepth ?? 64)
  if (!parsed.ok) throw invalid(`The structured output cannot be read: ${parsed.fault}${fenceHint(text)}`)
  const result = schema.validate(parsed.value)
  const settle = (found: Validation<Output>) => settled(found, parsed.dropped)
  return isThenable(result) ? result.then(settle) : settle(result)
}

/**
 * The form that a provider is asked for. The name is `name`, else the schema's title, with spaces as underscores, other
 * characters outside `[A-Za-z0-9_-]` dropped, at most 64; `structured_output` where nothing is left (G-46).
 */
export function outputFormat(schema: CompiledSchema, name?: string): OutputFormat {
  const title = name ?? ownValue(schema.jsonSchema, 'title')
  return Object.freeze({ name: formatName(title), schema: schema.jsonSchema })
}

function formatName(title: unknown): string {
  if (typeof title !== 'string') return DEFAULT_NAME
  const name = title
    .slice(0, 1000)
    .replace(/ /g, '_')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .slice(0, MAX_NAME)
  return name === '' ? DEFAULT_NAME : name
}

function settled<Output>(found: Validation<Output>, dropped: readonly string[]): ReadOutput<Output> {
  if (found.ok) return { output: found.value, dropped }
  throw invalid(
    `The structured output does not fit its schema: ${issuesText(found.issues)}`,
    found.issues[0]?.path ?? '',
    found.cause,
  )
}

function fenceHint(text: string): string {
  return text.trimStart().startsWith('```') ? ' (it stands in a Markdown fence, which is not taken away)' : ''
}

function invalid(message: string, path = '', cause?: unknown): SluiceError<'OUTPUT_INVALID'> {
  return new SluiceError('OUTPUT_INVALID', `${message}.`, {
    details: { path: escapeControl(path, 200) },
    ...(cause === undefined ? {} : { cause }),
  })
}
