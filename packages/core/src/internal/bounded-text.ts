/** A text cut to a bound. `cut` tells whether something is missing. */
export interface BoundedText {
  readonly text: string
  readonly cut: boolean
}

/**
 * The longest beginning of `text` that has at most `max` UTF-16 units, or UTF-8 bytes with `measure: 'bytes'`. A surrogate
 * pair is never split. Takes time in proportion to `max`, not to the text.
 */
export function boundText(text: string, max: number, measure: 'units' | 'bytes' = 'units'): BoundedText {
  const end = measure === 'units' ? unitsEnd(text, max) : bytesEnd(text, max)
  return end >= text.length ? { text, cut: false } : { text: text.slice(0, end), cut: true }
}

function unitsEnd(text: string, max: number): number {
  if (text.length <= max) return text.length
  return max > 0 && isHighSurrogate(text.charCodeAt(max - 1)) && isLowSurrogate(text.charCodeAt(max)) ? max - 1 : max
}

function bytesEnd(text: string, max: number): number {
  // a UTF-16 unit takes 1 to 3 bytes, so most texts need no counting
  if (text.length * 3 <= max) return text.length
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const pair = isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))
    bytes += pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
    if (bytes > max) return index
    if (pair) index += 1
  }
  return text.length
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
