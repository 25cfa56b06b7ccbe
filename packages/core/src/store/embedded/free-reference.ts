/** The reference, or where it is taken the first of `<reference>-2`, `<reference>-3` ... that is free (B-21). */
export function freeReference(reference: string, isTaken: (reference: string) => boolean): string {
  if (!isTaken(reference)) return reference
  for (let suffix = 2; ; suffix++) {
    const next = `${reference}-${suffix}`
    if (!isTaken(next)) return next
  }
}
