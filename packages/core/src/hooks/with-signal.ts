import type { LazySignal } from '../internal/lazy-signal.js'

/**
 * Gives the context of an observer its signal and freezes it. The signal is an accessor, so that none is made before it is
 * read and none is frozen (a frozen AbortSignal is dead); like that of a gate it is no part of a copy or of JSON.
 */
export function withSignal<Fields extends object>(
  fields: Fields,
  late: LazySignal,
): Readonly<Fields & { readonly signal: AbortSignal }> {
  Object.defineProperty(fields, 'signal', { get: () => late.signal, enumerable: false })
  return Object.freeze(fields) as Readonly<Fields & { readonly signal: AbortSignal }>
}
