import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readBucket, windowIn, writeBucket } from './bucket.js'
import type { Bucket } from './bucket.js'
import { BucketStep } from './bucket-step.js'
import type { Bound } from './limit.js'
import { formatUsd } from './nano-usd.js'
import { windowsOf } from './window.js'

const bound: Bound = {
  limit: {
    id: 'l',
    scope: 'user',
    key: undefined,
    unit: 'usd',
    amount: 10n ** 18n,
    windowOf: windowsOf(undefined, 'UTC'),
    thresholdPercents: [],
    landing: undefined,
  },
  key: ['limit', 'l', 'user', 'petra.k'],
}
const EVER = { start: 0, end: null }

/** Written, as JSON, and read again: a restart. */
const restarted = (bucket: Bucket) => readBucket(JSON.parse(JSON.stringify(writeBucket(bucket, 0))))

function charge(step: BucketStep, effectId: string, held: bigint, charged: bigint): void {
  const part = step.take({ effectId, attempt: 1 }, held)
  step.spend(step.takeBack(part, { effectId, attempt: 1 }), part, charged)
}

const CHARGES = 1_000_000
const RESTARTS = 100

it('CASE-10: one million charges of $0.00000045, with a hundred restarts between them, are exactly $0.45', () => {
  let bucket = readBucket(undefined)
  for (let restart = 0; restart < RESTARTS; restart++) {
    const step = new BucketStep(bound, bucket, restart)
    const part = step.take({ effectId: 'effect', attempt: 1 }, 1_000n)
    const window = step.takeBack(part, { effectId: 'effect', attempt: 1 })
    for (let one = 0; one < CHARGES / RESTARTS; one++) step.spend(window, part, 450n)
    bucket = restarted(step.bucket)
  }
  const { spent, held, unknown, overrun } = windowIn(bucket, EVER)
  expect([formatUsd(spent), held, unknown, overrun]).toEqual(['0.45', 0n, 0n, 0n])
})

it('CASE-10: charges of any size, with restarts anywhere, add up to what they are; what is above a hold is an overrun', () => {
  const size = fc.bigInt(0n, 2n ** 70n)
  const rows = fc.array(fc.record({ held: size, charged: size, restart: fc.boolean() }), { maxLength: 40 })
  fc.assert(
    fc.property(rows, (charges) => {
      let bucket = readBucket(undefined)
      for (const [index, { held, charged, restart }] of charges.entries()) {
        charge(new BucketStep(bound, bucket, 0), `effect-${index}`, held, charged)
        if (restart) bucket = restarted(bucket)
      }
      const sum = (amounts: readonly bigint[]) => amounts.reduce((left, right) => left + right, 0n)
      const above = charges.map(({ held, charged }) => (charged > held ? charged - held : 0n))
      const { spent, overrun, held, unknown } = windowIn(bucket, EVER)
      expect([spent, overrun]).toEqual([sum(charges.map((one) => one.charged)), sum(above)])
      expect([held, unknown, bucket.open.text]).toEqual([0n, 0n, ''])
    }),
  )
})
