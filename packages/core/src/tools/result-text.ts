import { SluiceError } from '../errors/sluice-error.js'
import { boundText } from '../internal/bounded-text.js'
import { escapeControl } from '../internal/escape-text.js'
import { wellFormedText } from '../internal/well-formed-text.js'

/** What the model reads of a result. */
export interface ResultText {
  readonly text: string
  /** True where the result was longer than the bound. */
  readonly cut: boolean
}

const MAX_BYTES = 262_144

/**
 * Turns what a handler returned into the text of a tool result: a string as it is, JSON data as JSON. At most `maxBytes`
 * UTF-8 bytes (default 256 KiB), the mark of a cut included. Unpaired surrogates, which no store takes, become U+FFFD.
 *
 * @throws TOOL_RESULT_INVALID for nothing (`reason` `tool.null_result`, G-29) and for what is neither text nor JSON data
 */
export function toResultText(value: unknown, toolCode: string, maxBytes = MAX_BYTES): ResultText {
  const text = wellFormedText(typeof value === 'string' ? value : jsonText(value, toolCode))
  const bounded = boundText(text, maxBytes, 'bytes')
  if (!bounded.cut) return bounded
  const mark = `\n[cut: the result is longer than ${maxBytes} bytes]`
  return { text: boundText(text, Math.max(0, maxBytes - mark.length), 'bytes').text + mark, cut: true }
}

function jsonText(value: unknown, toolCode: string): string {
  if (value === undefined || value === null)
    throw invalid(toolCode, `returned ${String(value)}`, undefined, 'tool.null_result')
  if (!isJsonLike(value)) throw invalid(toolCode, `returned ${kindOf(value)}`)
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw invalid(toolCode, 'returned something that JSON cannot hold', error)
  }
  if (text === undefined) throw invalid(toolCode, 'returned something that JSON cannot hold')
  return text
}

/** What JSON would silently turn into `null` or `{}` is no result. */
function isJsonLike(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'boolean') return true
  if (value === null || typeof value !== 'object') return false
  return !(
    value instanceof Map ||
    value instanceof Set ||
    value instanceof Promise ||
    value instanceof Error ||
    ArrayBuffer.isView(value)
  )
}

function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? `an object of class ${value?.constructor?.name ?? 'unknown'}` : `a ${typeof value}`
}

function invalid(toolCode: string, what: string, cause?: unknown, reason = 'tool.result'): SluiceError {
  return new SluiceError('TOOL_RESULT_INVALID', `Tool '${escapeControl(toolCode, 80)}' ${what}.`, {
    reason,
    details: { toolCode },
    hint: 'Return a string or JSON data; to say no, return refuse(text).',
    ...(cause === undefined ? {} : { cause }),
  })
}
