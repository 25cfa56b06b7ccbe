const CONTROL = /[\x00-\x1f\x7f]/
const UNPAIRED = /\p{Surrogate}/u

/** True for text without unpaired surrogates. */
export function isWellFormed(text: string): boolean {
  return !UNPAIRED.test(text)
}

/** True for text that may be an identifier: not empty, well-formed, without control characters. */
export function isPlainText(text: string): boolean {
  return text !== '' && !CONTROL.test(text) && !UNPAIRED.test(text)
}

/** True for keys that reach a prototype where an object is filled key by key; they are refused by name. */
export function reachesPrototype(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype'
}
