import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OpenHolds } from './open-holds.js'
import type { OpenHold } from './open-holds.js'

const hold: fc.Arbitrary<OpenHold> = fc.record({
  // ids that look like one another, and like the text around them
  effectId: fc.oneof(
    fc.constantFrom('a', 'a/m1', 'a/m11', '"', '\n', 'a\n["a",1,', '\\', '__proto__', '\u2028', '\ud800'),
    fc.string({ unit: 'binary', maxLength: 8 }),
  ),
  attempt: fc.integer({ min: 1, max: 12 }),
  start: fc.nat(5),
  end: fc.option(fc.nat(9)),
  amount: fc.bigInt(0n, 2n ** 70n),
  at: fc.nat(20),
})
const nameOf = ({ effectId, attempt }: OpenHold) => JSON.stringify([effectId, attempt])

it('finds, removes and lapses as a list of the same holds does, whatever is in their ids, through any number of restarts', () => {
  const command = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('add' as const, 'remove' as const), hold }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('until' as const), at: fc.nat(20) }) },
  )
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      let open = new OpenHolds('', null)
      let list: OpenHold[] = []
      for (const one of commands) {
        if (one.kind === 'until') {
          expect(open.takeUntil(one.at)).toEqual(list.filter(({ at }) => at <= one.at))
          list = list.filter(({ at }) => at > one.at)
        } else {
          const known = list.some((other) => nameOf(other) === nameOf(one.hold))
          expect(open.has(one.hold.effectId, one.hold.attempt)).toBe(known)
          if (one.kind === 'remove') expect(open.remove(one.hold.effectId, one.hold.attempt)).toBe(known)
          else if (!known) open.add(one.hold)
          if (one.kind === 'remove') list = list.filter((other) => nameOf(other) !== nameOf(one.hold))
          else if (!known) list.push(one.hold)
        }
        open = new OpenHolds(open.text, open.since)
        expect(open.list()).toEqual(list)
        expect(open.since === null).toBe(list.length === 0)
        expect(list.every(({ at }) => at >= (open.since ?? 0))).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})
