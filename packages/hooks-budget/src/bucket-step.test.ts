import { expect, it } from 'vitest'
import type { Part } from './attempt.js'
import { readBucket, windowIn, writeBucket } from './bucket.js'
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
const CHARGES = 1_000_000
const RESTARTS = 100

it('CASE-10: one million charges of $0.00000045, with a hundred restarts between them, are exactly $0.45', () => {
  const part: Part = { limit: 'l', key: bound.key, unit: 'usd', start: 0, end: null, amount: '1000' }
  let stored = writeBucket(readBucket(undefined))
  for (let restart = 0; restart < RESTARTS; restart++) {
    const step = new BucketStep(bound, readBucket(JSON.parse(JSON.stringify(stored))), restart)
    const { window, bucket } = step
    for (let charge = 0; charge < CHARGES / RESTARTS; charge++) {
      const hold = { effectId: `${restart}/${charge}`, attempt: 1 }
      window.held += 1_000n
      bucket.open.push({ ...hold, start: 0, end: null, amount: 1_000n, at: restart })
      step.spend(step.takeBack(part, hold.effectId, 1), part, { ...hold, charged: 450n })
    }
    stored = writeBucket(step.bucket)
  }
  const { spent, held, unknown, overrun } = windowIn(readBucket(stored), { start: 0, end: null })
  expect([formatUsd(spent), held, unknown, overrun]).toEqual(['0.45', 0n, 0n, 0n])
}, 120_000)
