const DAY_MS = 86_400_000
const SECOND_MS = 1_000

/** Calendar arithmetic of one IANA time zone. Days are counted from 1 January 1970, in local dates. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat

  /** Throws a `RangeError` for a zone that there is not. */
  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** Milliseconds that local time is ahead of UTC at a moment. */
  offsetAt(at: number): number {
    const whole = Math.floor(at / SECOND_MS) * SECOND_MS
    const parts = new Map(this.#format.formatToParts(whole).map((part) => [part.type, Number(part.value)]))
    const read = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const local = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'))
    return local - whole
  }

  /** The first moment behind `from`, up to `to`, with the offset of `to`: where the clocks changed between them. */
  changeBetween(from: number, to: number): number {
    const after = this.offsetAt(to)
    let before = from
    let there = to
    while (there - before > 1) {
      const middle = Math.floor((before + there) / 2)
      if (this.offsetAt(middle) === after) there = middle
      else before = middle
    }
    return there
  }

  /** The local date of a moment. */
  dayAt(at: number): number {
    return Math.floor((at + this.offsetAt(at)) / DAY_MS)
  }

  /** The first moment at which the local date is `day` or later. */
  startOf(day: number): number {
    const midnight = day * DAY_MS
    // no zone is more than a day away from UTC
    let before = midnight - 2 * DAY_MS
    let there = midnight + 2 * DAY_MS
    while (there - before > 1) {
      const middle = Math.floor((before + there) / 2)
      if (this.dayAt(middle) >= day) there = middle
      else before = middle
    }
    return there
  }
}
