import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { windowsOf } from './window.js'
import type { Per } from './window.js'

const iso = (text: string) => Date.parse(text)
const show = (per: Per, zone: string, at: string) => {
  const { start, end } = windowsOf(per, zone)(iso(at))
  return [new Date(start).toISOString(), new Date(end ?? 0).toISOString()]
}

describe('windows of time', () => {
  it.each<[Per, string, string, string, string]>([
    ['hour', 'UTC', '2026-11-30T22:59:59.999Z', '2026-11-30T22:00:00.000Z', '2026-11-30T23:00:00.000Z'],
    ['hour', 'Asia/Kolkata', '2026-11-30T10:00:00Z', '2026-11-30T09:30:00.000Z', '2026-11-30T10:30:00.000Z'],
    ['day', 'UTC', '2026-11-30T00:00:00Z', '2026-11-30T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['day', 'America/New_York', '2026-11-30T04:59:59Z', '2026-11-29T05:00:00.000Z', '2026-11-30T05:00:00.000Z'],
    ['week', 'UTC', '2026-11-29T23:59:59Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    ['week', 'UTC', '2026-11-30T00:00:00Z', '2026-11-30T00:00:00.000Z', '2026-12-07T00:00:00.000Z'],
    ['month', 'UTC', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['month', 'Europe/Vienna', '2026-11-30T23:30:00Z', '2026-11-30T23:00:00.000Z', '2026-12-31T23:00:00.000Z'],
    ['month', 'UTC', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ])('a %s in %s at %s', (per, zone, at, start, end) => {
    expect(show(per, zone, at)).toEqual([start, end])
  })

  it('the day of the change to summer time has 23 hours, that back from it 25', () => {
    expect(show('day', 'Europe/Vienna', '2026-03-29T12:00:00Z')).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
    expect(show('day', 'Europe/Vienna', '2026-10-25T12:00:00Z')).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
  })

  it('where clocks change by half an hour, the hour is cut and no moment lies in two windows', () => {
    const hour = (at: string) => show('hour', 'Australia/Lord_Howe', at)
    // back from 02:00 to 01:30
    expect(hour('2026-04-04T14:59:59.999Z')).toEqual(['2026-04-04T14:00:00.000Z', '2026-04-04T15:00:00.000Z'])
    expect(hour('2026-04-04T15:00:00Z')).toEqual(['2026-04-04T15:00:00.000Z', '2026-04-04T15:30:00.000Z'])
    expect(hour('2026-04-04T15:30:00Z')).toEqual(['2026-04-04T15:30:00.000Z', '2026-04-04T16:30:00.000Z'])
    // forward from 02:00 to 02:30
    expect(hour('2026-10-03T15:29:59Z')).toEqual(['2026-10-03T14:30:00.000Z', '2026-10-03T15:30:00.000Z'])
    expect(hour('2026-10-03T15:30:00Z')).toEqual(['2026-10-03T15:30:00.000Z', '2026-10-03T16:00:00.000Z'])
    // Vienna changes by whole hours
    expect(show('hour', 'Europe/Vienna', '2026-10-25T01:00:00Z')).toEqual([
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ])
  })

  it('a day whose midnight does not exist begins at the first moment of its date', () => {
    expect(show('day', 'Africa/Cairo', '2026-04-24T12:00:00Z')[0]).toBe('2026-04-23T22:00:00.000Z')
  })

  it('for ever is one window', () => {
    expect(windowsOf(undefined, 'UTC')(iso('2026-11-30T00:00:00Z'))).toEqual({ start: 0, end: null })
  })

  it('every moment lies in its window, and a window is the same from its first to its last moment', () => {
    const zones = [
      'UTC',
      'Europe/Vienna',
      'America/New_York',
      'Africa/Cairo',
      'America/Asuncion',
      'Pacific/Apia',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
    ]
    const at = fc.integer({ min: iso('2009-01-01T00:00:00Z'), max: iso('2035-01-01T00:00:00Z') })
    const per = fc.constantFrom<Per>('hour', 'day', 'week', 'month')
    fc.assert(
      fc.property(per, fc.constantFrom(...zones), at, (length, zone, moment) => {
        const span = windowsOf(length, zone)(moment)
        expect(span.start).toBeLessThanOrEqual(moment)
        expect(span.end ?? 0).toBeGreaterThan(moment)
        expect(windowsOf(length, zone)(span.start)).toEqual(span)
        expect(windowsOf(length, zone)((span.end ?? 0) - 1)).toEqual(span)
      }),
      { numRuns: 60 },
    )
  })
})
