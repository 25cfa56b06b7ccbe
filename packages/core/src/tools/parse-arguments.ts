import { boundText } from '../internal/bounded-text.js'
import { escapeControl } from '../internal/escape-text.js'
import { firstContent, rawControlInString, repeatedKey, scanJson } from './scan-json.js'
import { CONTEXT_KEY, dropUnsafeKeys, inspectParsed } from './unsafe-keys.js'

/** Bounds of a JSON text that comes from a model, checked before it is parsed. */
export interface JsonTextBounds {
  /** UTF-8 bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** Levels of objects and lists. Default 64. */
  readonly maxDepth?: number
}

/** Parsed JSON, or a short text that names the fault and is fit for the model to read. */
export type ParsedJson<Value> =
  | {
      readonly ok: true
      readonly value: Value
      /** Paths of keys that were taken out because they reach a prototype or the run context (CASE-22). */
      readonly dropped: readonly string[]
    }
  | { readonly ok: false; readonly fault: string }

/** What `parseToolArguments` found. */
export type ParsedArguments = ParsedJson<Record<string, unknown>>

const MAX_BYTES = 1_048_576
const MAX_DEPTH = 64
const NONE: readonly string[] = Object.freeze([])

/**
 * Reads the arguments of a tool call as a model sent them. An absent, empty or blank text is `{}` (G-27), and the tool's
 * schema then says whether that will do. Everything else has to be one JSON object, strictly: no text before or after it,
 * no repeated key, no number beyond a double, nothing larger or deeper than the bounds (CASE-14). Keys that reach a
 * prototype are taken out at every level, `_ctx` at the top. Never throws, and takes time in proportion to the text.
 */
export function parseToolArguments(text: string | undefined, bounds: JsonTextBounds = {}): ParsedArguments {
  if (text === undefined || text === '') return { ok: true, value: {}, dropped: NONE }
  const size = oversize(text, bounds.maxBytes ?? MAX_BYTES)
  if (size !== undefined) return fault(`The arguments ${size}.`)
  const start = firstContent(text)
  if (start === text.length) return { ok: true, value: {}, dropped: NONE }
  if (text.charCodeAt(start) !== 0x7b) return fault('The arguments are not a JSON object.')
  const parsed = parseJsonText(text, bounds.maxDepth ?? MAX_DEPTH, CONTEXT_KEY)
  return parsed.ok ? (parsed as ParsedArguments) : fault(`The arguments cannot be read: ${parsed.fault}.`)
}

/**
 * Parses JSON of any kind under the same rules. The fault is a clause without subject or full stop.
 *
 * @param reserved one more key that is taken out at the top
 */
export function parseJsonText(text: string, maxDepth: number, reserved?: string): ParsedJson<unknown> {
  const first = text.charCodeAt(firstContent(text))
  const structured = first === 0x7b || first === 0x5b
  const scan = structured ? scanJson(text) : undefined
  if (scan !== undefined && scan.depth > maxDepth) return fault(`they are nested deeper than ${maxDepth} levels`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return fault(syntaxFault(text, scan?.trailingAt ?? -1, scan?.unfinished ?? text.trim() === ''))
  }
  const shape = inspectParsed(value, reserved)
  if (scan !== undefined && shape.keys !== scan.colons) {
    return fault(`the key "${escapeControl(repeatedKey(text) ?? '', 60)}" appears twice in one object`)
  }
  if (shape.infinite) return fault('a number is too large')
  return { ok: true, value, dropped: shape.unsafe ? dropUnsafeKeys(value, reserved) : NONE }
}

/** Says how much too large a text is; `undefined` where it fits. */
export function oversize(text: string, maxBytes: number): string | undefined {
  return boundText(text, maxBytes, 'bytes').cut ? `are larger than the ${maxBytes} bytes that are taken` : undefined
}

function syntaxFault(text: string, trailingAt: number, unfinished: boolean): string {
  const control = rawControlInString(text)
  if (control >= 0) return `a string holds a raw line break or control character (at character ${control + 1})`
  if (unfinished) return 'the text ends before the JSON does'
  if (trailingAt >= 0) return `something follows the JSON value (at character ${trailingAt + 1})`
  return 'the text is not valid JSON'
}

function fault(text: string): { readonly ok: false; readonly fault: string } {
  return { ok: false, fault: text }
}
