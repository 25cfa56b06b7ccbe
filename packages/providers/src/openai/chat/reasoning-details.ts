import type { Wire } from '../../shared/wire-json.js'
import { isWire, wireText } from '../../shared/wire-json.js'

/** Members that arrive in pieces; of any other, the last one that says something stands. */
const IN_PIECES = new Set(['text', 'summary', 'data'])

/**
 * Adds one piece of streamed `reasoning_details` to those before it, so that they come to what a plain reply would have
 * held: a piece belongs to the detail before it where type and index are the same.
 */
export function addReasoningDetail(details: Wire[], piece: unknown): void {
  if (!isWire(piece)) return
  const last = details.at(-1)
  if (last === undefined || last.type !== piece.type || last.index !== piece.index || isWhole(last, piece)) {
    details.push({ ...piece })
    return
  }
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) last[name] ??= value
    else last[name] = IN_PIECES.has(name) ? wireText(last[name]) + wireText(value) : value
  }
}

/** True where the detail was closed by its signature, or the piece names itself otherwise: it begins one of its own. */
function isWhole(last: Wire, piece: Wire): boolean {
  if (typeof last.signature === 'string') return true
  return typeof last.id === 'string' && typeof piece.id === 'string' && last.id !== piece.id
}
