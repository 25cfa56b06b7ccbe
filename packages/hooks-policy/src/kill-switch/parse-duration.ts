const UNITS: Readonly<Record<string, number>> = Object.freeze({ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 })

/** Milliseconds of `90s`, `30m`, `2h` or `7d`; `undefined` for anything else, and for nothing. */
export function parseDuration(text: string): number | undefined {
  const match = /^([0-9]{1,9})([smhd])$/.exec(text.trim())
  const count = Number(match?.[1])
  const unit = UNITS[match?.[2] ?? '']
  return match === null || unit === undefined || count === 0 ? undefined : count * unit
}
