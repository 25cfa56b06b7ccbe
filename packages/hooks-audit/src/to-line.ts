import type { JsonValue } from '@sluice/core'
import { canonicalText } from './canonical-text.js'

/** What a reader may take for the end of a line, or what turns the direction of what follows; JSON leaves them as they are. */
const RISKY = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** One line of JSON: canonical, and with every character escaped that a reader could take for a line break or a command. */
export function toLine(value: JsonValue): string {
  return escapeRisky(canonicalText(value))
}

/** Writes characters that break or turn a line as `\uXXXX`. */
export function escapeRisky(text: string): string {
  return text.replace(RISKY, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
