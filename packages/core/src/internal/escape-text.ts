import { boundText } from './bounded-text.js'

// C0 and C1 controls, DEL, backslash, line and paragraph separators, marks that turn or hide text, unpaired surrogates
const ESCAPED =
  /[\x00-\x1f\\\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }
const CUT = '\\…'

/**
 * Text for one line of a log: control characters, line separators, bidirectional marks and unpaired surrogates are shown
 * as `\n`, `\u001b` and the like, a backslash as two, so that the text can be read back. The result has at most `maxUnits`
 * UTF-16 units; a cut is marked with `\…` at its end, which no text escapes to.
 */
export function escapeControl(text: string, maxUnits = 1024): string {
  // escaping never shortens, so what lies behind the bound is never needed
  const escaped = boundText(text, maxUnits).text.replace(ESCAPED, escapeOne)
  if (escaped.length <= maxUnits && text.length <= maxUnits) return escaped
  return cutEscaped(escaped, Math.max(0, maxUnits - CUT.length)) + CUT
}

function escapeOne(unit: string): string {
  return Object.hasOwn(SHORT, unit) ? (SHORT[unit] as string) : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The beginning of an escaped text with at most `max` units that ends in no half escape. */
function cutEscaped(escaped: string, max: number): string {
  let end = 0
  for (const match of escaped.matchAll(/\\u[0-9a-f]{4}|\\.|[\s\S]/gu)) {
    if (end + match[0].length > max) break
    end += match[0].length
  }
  return escaped.slice(0, end)
}
