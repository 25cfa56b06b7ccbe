import { createMemoryStore } from '@sluice/core'
import type { Store } from '@sluice/core'
import { fakeClock } from '@sluice/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readBucket } from './bucket.js'
import { BucketStep } from './bucket-step.js'
import { Ledger } from './ledger.js'
import type { Bound, Limit } from './limit.js'
import { readOverruns } from './overrun.js'
import type { Resolution } from './resolve-attempt.js'
import { windowsOf } from './window.js'

const LIFE_MS = 600_000
const limit = (id: string, amount: bigint, per: 'hour' | undefined): Limit => ({
  id,
  scope: 'user',
  key: undefined,
  unit: 'usd',
  amount,
  windowOf: windowsOf(per, 'UTC'),
  thresholdPercents: [50, 100],
  landing: undefined,
})
const LIMITS = [limit('ever', 400n, undefined), limit('hour', 120n, 'hour')]
const BOUNDS: readonly Bound[] = LIMITS.map((one) => ({ limit: one, key: ['limit', one.id, 'user', 'petra.k'] }))

type Command =
  | { readonly kind: 'hold'; readonly effect: number; readonly attempt: number; readonly amount: bigint }
  | { readonly kind: 'settle'; readonly effect: number; readonly attempt: number; readonly amount: bigint }
  | { readonly kind: 'release' | 'unknown'; readonly effect: number; readonly attempt: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'crash' }

const target = { effect: fc.nat(5), attempt: fc.integer({ min: 1, max: 2 }) }
/** What costs nothing is held too. */
const held = fc.oneof({ weight: 1, arbitrary: fc.constant(0n) }, { weight: 5, arbitrary: fc.bigInt(1n, 60n) })
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('hold' as const), ...target, amount: held }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const), ...target, amount: fc.bigInt(0n, 80n) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('release' as const, 'unknown' as const), ...target }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 200_000, 400_000, LIFE_MS, 3_600_000),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
)

interface ExpectedAttempt {
  state: 'held' | 'settled' | 'released' | 'unknown' | 'closed'
  readonly amount: bigint
  charged: bigint
  readonly at: number
  readonly windows: readonly number[]
}

/** What should be booked, told from the list of attempts alone. */
class Expected {
  readonly attempts = new Map<string, ExpectedAttempt>()

  totals(index: number, start: number, now: number) {
    const totals = { spent: 0n, held: 0n, unknown: 0n, overrun: 0n }
    for (const one of this.attempts.values()) {
      if (one.windows[index] !== start) continue
      const lapsed = one.state === 'held' && one.at + LIFE_MS <= now
      if (one.state === 'settled') {
        totals.spent += one.charged
        if (one.charged > one.amount) totals.overrun += one.charged - one.amount
      } else if (one.state === 'unknown' || lapsed) totals.unknown += one.amount
      else if (one.state === 'held') totals.held += one.amount
    }
    return totals
  }

  admits(amount: bigint, now: number): boolean {
    return LIMITS.every((one, index) => {
      const { spent, held, unknown } = this.totals(index, one.windowOf(now).start, now)
      return spent + held + unknown + amount <= one.amount
    })
  }
}

async function run(script: readonly Command[]): Promise<void> {
  const clock = fakeClock()
  const store: Store = createMemoryStore({ clock })
  const documents = store.documents('plugin:hooks-budget')
  const expected = new Expected()
  let ledger = new Ledger(documents, LIFE_MS)
  for (const command of script) {
    const now = clock.now()
    if (command.kind === 'pass') clock.advance(command.ms)
    else if (command.kind === 'crash') ledger = new Ledger(documents, LIFE_MS)
    else if (command.kind === 'hold') await hold(ledger, expected, command, now)
    else await close(ledger, expected, command, now)
    await compare(documents, expected, clock.now())
  }
}

async function hold(ledger: Ledger, expected: Expected, command: Command & { kind: 'hold' }, now: number) {
  const name = `${command.effect}/${command.attempt}`
  const known = expected.attempts.get(name)
  const admitted = known === undefined && expected.admits(command.amount, now)
  const asks = BOUNDS.map((bound) => ({ ...bound, amountFor: () => command.amount }))
  const { answer } = await ledger.hold({
    effectId: `effect-${command.effect}`,
    attempt: command.attempt,
    asks,
    outputTokens: 0n,
    kind: 'landing',
    held: {},
  })
  if (known === undefined) expect(answer.kind).toBe(admitted ? 'held' : 'refused')
  else if (known.state !== 'held') expect(answer.kind).toBe('closed')
  else expect(answer.kind).toBe(command.amount <= known.amount ? 'held' : 'differs')
  if (!admitted) return
  const windows = LIMITS.map((one) => one.windowOf(now).start)
  expected.attempts.set(name, { state: 'held', amount: command.amount, charged: 0n, at: now, windows })
}

type Closing = Exclude<Command, { kind: 'hold' | 'pass' | 'crash' }>

async function close(ledger: Ledger, expected: Expected, command: Closing, now: number) {
  const name = `${command.effect}/${command.attempt}`
  const known = expected.attempts.get(name)
  const resolution: Resolution =
    command.kind === 'settle'
      ? { kind: 'settled', amounts: { usd: command.amount, tokens: null }, booked: {} }
      : { kind: command.kind === 'release' ? 'released' : 'unknown', booked: {} }
  const effect = { effectId: `effect-${command.effect}`, attempt: command.attempt }
  const { answer } = await ledger.close(effect, BOUNDS, LIMITS, () => resolution)
  if (known === undefined) {
    expect(answer).toBe('marked')
    expected.attempts.set(name, { state: 'closed', amount: 0n, charged: 0n, at: now, windows: [] })
    return
  }
  const open = known.state === 'held' || (known.state === 'unknown' && resolution.kind !== 'unknown')
  expect(answer).toBe(open ? 'resolved' : 'repeated')
  if (!open) return
  // the most that it can have cost is nothing: nothing is unknown
  known.state = resolution.kind === 'unknown' && known.amount === 0n ? 'settled' : resolution.kind
  if (command.kind === 'settle') known.charged = command.amount
}

async function compare(documents: ReturnType<Store['documents']>, expected: Expected, now: number) {
  await compareLists(documents, expected)
  const stored = await documents.getMany(BOUNDS.map((bound) => bound.key))
  BOUNDS.forEach((bound, index) => {
    const bucket = readBucket(stored[index])
    for (const { held, overrun, spent } of bucket.windows) {
      expect(spent + held).toBeLessThanOrEqual(bound.limit.amount + overrun)
    }
    const step = new BucketStep(bound, bucket, now)
    step.lapse(LIFE_MS)
    const starts = new Set([...expected.attempts.values()].map((one) => one.windows[index]))
    for (const start of starts) {
      if (start === undefined) continue
      const totals = expected.totals(index, start, now)
      const window = bucket.windows.find((one) => one.start === start)
      if (window === undefined) expect([totals.held, totals.unknown]).toEqual([0n, 0n])
      else {
        const { spent, held, unknown, overrun } = window
        expect({ spent, held, unknown, overrun }).toEqual(totals)
      }
    }
  })
}

/** What is pending is found by its document, and every charge above its hold by one of its own. */
async function compareLists(documents: ReturnType<Store['documents']>, expected: Expected) {
  const named = async (kind: string) => (await documents.list([kind])).items.map((item) => item.key[1]).toSorted()
  const effects = (wanted: (one: ExpectedAttempt) => boolean) => {
    const found = [...expected.attempts].filter(([, one]) => wanted(one))
    return [...new Set(found.map(([name]) => `effect-${name.split('/')[0]}`))].toSorted()
  }
  expect(await named('pending')).toEqual(effects((one) => one.state === 'held' || one.state === 'unknown'))
  const overruns = (await documents.list(['overrun'])).items.flatMap((item) => readOverruns(item.value))
  expect(overruns).toHaveLength([...expected.attempts.values()].filter((one) => one.charged > one.amount).length)
}

it('CASE-08, CASE-12: in every order of hold, settle, release, lapse, crash and repetition the ledger is the sum of its attempts', async () => {
  await fc.assert(fc.asyncProperty(fc.array(commands, { maxLength: 60 }), run), { numRuns: 300 })
}, 120_000)
