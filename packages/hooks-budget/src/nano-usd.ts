/** Nano-US-dollars in one US dollar: the one unit of money, from price to comparison to storage. */
export const NANO_PER_USD = 1_000_000_000n

const DECIMAL = /^(\d{1,30})(?:\.(\d{1,30}))?$/

/** A non-negative decimal number as `digits / 10^scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Reads `12`, `0.0125`; `undefined` for signs, exponents, blanks and anything else. */
export function parseDecimal(text: string): Decimal | undefined {
  const found = DECIMAL.exec(text)
  if (found === null) return undefined
  const fraction = found[2] ?? ''
  return { digits: BigInt(`${found[1]}${fraction}`), scale: fraction.length }
}

/**
 * Reads US dollars as nano-USD, exactly: `'0.50'` is 500000000n. `undefined` for what is no non-negative decimal number, or
 * has more than 9 digits behind the point that are not 0.
 */
export function parseUsd(text: string): bigint | undefined {
  const decimal = parseDecimal(text)
  if (decimal === undefined) return undefined
  const scaled = decimal.digits * NANO_PER_USD
  const unit = 10n ** BigInt(decimal.scale)
  return scaled % unit === 0n ? scaled / unit : undefined
}

/** Nano-USD for people: at least two digits behind the point, never rounded. `1500000000n` is `'1.50'`. */
export function formatUsd(nanoUsd: bigint): string {
  const sign = nanoUsd < 0n ? '-' : ''
  const size = nanoUsd < 0n ? -nanoUsd : nanoUsd
  const fraction = (size % NANO_PER_USD)
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${sign}${size / NANO_PER_USD}.${fraction}`
}

/** The next whole number at or above `numerator / denominator`, for non-negative numbers. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}
