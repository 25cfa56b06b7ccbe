import { TimeZone } from './time-zone.js'

/** How long a limit counts before it begins anew; absent: for ever. */
export type Per = 'hour' | 'day' | 'week' | 'month'

/** A stretch of time from `start` to just before `end`, in milliseconds since the epoch; `end` is `null` for ever. */
export interface Span {
  readonly start: number
  readonly end: number | null
}

const HOUR_MS = 3_600_000
const EVER: Span = Object.freeze({ start: 0, end: null })

/**
 * The window of a time in a time zone: clock hours, calendar days, weeks from Monday (ISO 8601), calendar months. A day on
 * which the clocks change has 23 or 25 hours, and an hour is cut by a change of half an hour. The last window is remembered, as asking for it needs the calendar.
 */
export function windowsOf(per: Per | undefined, timeZone: string): (at: number) => Span {
  if (per === undefined) return () => EVER
  const zone = new TimeZone(timeZone)
  let last: Span | undefined
  return (at) => {
    if (last?.end != null && last.start <= at && at < last.end) return last
    last = per === 'hour' ? hourOf(zone, at) : calendarSpan(zone, per, at)
    return last
  }
}

function hourOf(zone: TimeZone, at: number): Span {
  const offset = zone.offsetAt(at)
  const start = Math.floor((at + offset) / HOUR_MS) * HOUR_MS - offset
  const end = start + HOUR_MS
  // where clocks change by half an hour, the hour is cut there: two windows never share a moment
  return Object.freeze({
    start: zone.offsetAt(start) === offset ? start : zone.changeBetween(start, at),
    end: zone.offsetAt(end - 1) === offset ? end : zone.changeBetween(at, end),
  })
}

function calendarSpan(zone: TimeZone, per: 'day' | 'week' | 'month', at: number): Span {
  let [from, to] = daysAround(per, zone.dayAt(at))
  // where clocks go back over midnight, a date begins once and is left again
  while (zone.startOf(to) <= at) [from, to] = daysAround(per, to)
  return Object.freeze({ start: zone.startOf(from), end: zone.startOf(to) })
}

const DAYS_PER_WEEK = 7
/** Day 0, 1 January 1970, was a Thursday: three days after a Monday. */
const THURSDAY = 3
const DAY_MS = 86_400_000

/** First day of the window and of the next one; days are counted from 1 January 1970. */
function daysAround(per: 'day' | 'week' | 'month', day: number): [number, number] {
  if (per === 'day') return [day, day + 1]
  if (per === 'week') {
    const weekday = (((day + THURSDAY) % DAYS_PER_WEEK) + DAYS_PER_WEEK) % DAYS_PER_WEEK
    return [day - weekday, day - weekday + DAYS_PER_WEEK]
  }
  const date = new Date(day * DAY_MS)
  const month = (months: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / DAY_MS
  return [month(0), month(1)]
}
