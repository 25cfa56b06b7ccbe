import { SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LimitOptions } from './rate-limit-options.js'
import { rateRigs, retryAfter } from './testing/rate-rig.js'

const rateRig = rateRigs(fakeClock)

const MINUTE = 60_000
const calls = (max: number, more: Partial<LimitOptions> = {}): LimitOptions => ({
  count: 'modelCalls',
  max,
  per: 'minute',
  ...more,
})

/** The most that was admitted within any span that is open to the right. */
function mostWithin(spanMs: number, admitted: readonly { readonly at: number; readonly amount: number }[]): number {
  let most = 0
  for (const { at } of admitted) {
    let sum = 0
    for (const other of admitted) if (other.at >= at && other.at < at + spanMs) sum += other.amount
    most = Math.max(most, sum)
  }
  return most
}

/** The most that was admitted in any stretch of time above what a rate gives in it. */
function mostAbovePace(admitted: readonly { readonly at: number }[], perMs: number): number {
  let most = 0
  admitted.forEach(({ at }, first) => {
    for (let last = first; last < admitted.length; last++) {
      const elapsed = (admitted[last] as { at: number }).at - at
      most = Math.max(most, last - first + 1 - elapsed * perMs)
    }
  })
  return most
}

describe('B-24, CASE-09: limits at the edge', () => {
  it.each([1, 2, 7, 60])(
    'a limit of %i admits exactly that many, and the next one a window after the first',
    async (max) => {
      const { model, clock } = await rateRig({ limits: [calls(max)] })
      for (let id = 0; id < max; id++) expect((await model(id)).answer).toBe('passed')
      const refused = await model('more')
      expect([refused.answer, refused.error?.code, retryAfter(refused)]).toEqual([
        'vetoed',
        'RATE_LIMIT_EXCEEDED',
        MINUTE,
      ])
      clock.advance(MINUTE - 1)
      expect(retryAfter(await model('more'))).toBe(1)
      clock.advance(1)
      expect((await model('more')).answer).toBe('passed')
    },
  )

  it('0 blocks, and says that waiting does not help', async () => {
    const { model } = await rateRig({ limits: [calls(0, { wait: true })] })
    const refused = await model(1)
    expect([refused.answer, refused.error?.code, retryAfter(refused)]).toEqual([
      'vetoed',
      'RATE_LIMIT_NEVER_FITS',
      undefined,
    ])
  })

  it.each([
    ['runs', 'beforeExecution'],
    ['toolCalls', 'beforeToolCall'],
  ] as const)('%s: 0 blocks, 1 admits one, exactly enough passes', async (count, point) => {
    for (const max of [0, 1, 3]) {
      const { bench } = await rateRig({ limits: [{ count, max, per: 'hour' }] })
      for (let id = 0; id < max; id++) expect((await bench.ask(point, { effectId: `e${id}` })).answer).toBe('passed')
      const refused = await bench.ask(point, { effectId: 'more' })
      expect(refused.error?.code).toBe(max === 0 ? 'RATE_LIMIT_NEVER_FITS' : 'RATE_LIMIT_EXCEEDED')
      await bench.dispose()
    }
  })

  it('a burst gives back only what has not left the bucket since: correcting an estimate lets nobody in early', async () => {
    const { model, ended, clock } = await rateRig({
      limits: [{ count: 'tokens', max: 1_000, per: 1_000, burst: 100 }],
    })
    const usage = {
      inputTokens: 10,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
      unreportedCalls: 0,
    }
    const ask = (id: number, tokens: number) => model(id, { inputTokensAtMost: tokens, maxOutputTokens: 0 })
    expect((await ask(1, 100)).answer).toBe('passed')
    clock.advance(60)
    expect((await ask(2, 50)).answer).toBe('passed')
    await ended(1, { usage })
    // 50 of the second stand in the bucket, whatever the first had been
    expect((await ask(3, 51)).answer).toBe('vetoed')
    expect((await ask(3, 50)).answer).toBe('passed')
  })

  it('a limit that is absent limits nothing', async () => {
    const { model } = await rateRig({ limits: [{ count: 'toolCalls', max: 0, per: 'minute' }] })
    // the point is not even tapped: nobody is asked
    expect(await model(1)).toMatchObject({ answer: 'passed', gates: [] })
  })

  it('tokens: exactly enough passes, one more does not, and more than the limit never fits', async () => {
    const tokens = (max: number) => rateRig({ limits: [{ count: 'tokens', max, per: 'minute' }] })
    const input = { inputTokensAtMost: 90, maxOutputTokens: 10 }
    expect((await (await tokens(100)).model(1, input)).answer).toBe('passed')
    expect((await (await tokens(99)).model(1, input)).error?.code).toBe('RATE_LIMIT_NEVER_FITS')
    const { model } = await tokens(199)
    expect((await model(1, input)).answer).toBe('passed')
    expect((await model(2, input)).error?.code).toBe('RATE_LIMIT_EXCEEDED')
  })

  it('tokens of a request without an upper bound are refused, never taken for 0', async () => {
    const { model } = await rateRig({ limits: [{ count: 'tokens', max: 1_000_000, per: 'minute' }] })
    expect((await model(1, { inputTokensAtMost: null })).error?.code).toBe('RATE_LIMIT_TOKENS_UNKNOWN')
  })

  it('options that do not fit are refused when the plugin is applied, all of them at once', async () => {
    const refused = await rateRig({ limits: [calls(-1), calls(1.5, { name: 'b', burst: 9 })] }).catch(
      (error: unknown) => error,
    )
    expect(SluiceError.isInstance(refused)).toBe(true)
    for (const place of ['limits.0.max', 'limits.1.max']) expect(String(refused)).toContain(place)
  })
})

describe('a refused call takes nothing', () => {
  it('where the second limit refuses, the first has nothing less', async () => {
    const { model, bench, documents } = await rateRig({
      limits: [calls(3, { name: 'wide' }), calls(1, { name: 'tight', scope: 'user' })],
    })
    expect((await model(1, {}, { user: 'a' })).answer).toBe('passed')
    const before = await documents()
    for (let id = 2; id < 50; id++) {
      const refused = await model(id, {}, { user: 'a' })
      expect(refused.error?.details).toMatchObject({ limit: 'tight', max: 1, used: 1, asked: 1 })
    }
    expect(await documents()).toEqual(before)
    expect((await model(50, {}, { user: 'b' })).answer).toBe('passed')
    expect((await model(51, {}, { user: 'c' })).answer).toBe('passed')
    await bench.dispose()
  })

  it('with several refusals the one that takes longest speaks', async () => {
    const { model } = await rateRig({ limits: [calls(1), calls(1, { name: 'day', per: 'day' })] })
    await model(1)
    expect((await model(2)).error?.details).toMatchObject({ limit: 'day', retryAfterMs: 86_400_000 })
  })
})

describe('permits count attempts', () => {
  it('an attempt that is asked again is counted once, the next attempt anew', async () => {
    const { model } = await rateRig({ limits: [calls(2)] })
    for (let time = 0; time < 5; time++) expect((await model(1)).answer).toBe('passed')
    expect((await model(1, { attempt: 2 })).answer).toBe('passed')
    expect((await model(1, { attempt: 3 })).answer).toBe('vetoed')
  })

  it('a call that was not sent keeps its permit, and gives its tokens back', async () => {
    const { model, ended, bench } = await rateRig({
      limits: [calls(5), { count: 'tokens', max: 10_000, per: 'minute' }],
    })
    const input = { inputTokensAtMost: 5_000, maxOutputTokens: 5_000 }
    for (let id = 0; id < 5; id++) {
      expect((await model(id, input)).answer).toBe('passed')
      await ended(id, { ...input, outcome: 'stopped', sent: 'no' })
    }
    expect((await model(9, input)).error?.details).toMatchObject({ limit: 'modelCalls:all:minute', used: 5 })
    await bench.dispose()
  })
})

describe('tokens are corrected at closing', () => {
  const limits: LimitOptions[] = [{ count: 'tokens', max: 1_000, per: 'minute' }]
  const estimate = { inputTokensAtMost: 500, maxOutputTokens: 300 }
  const usage = (input: number | null, output: number | null, unreportedCalls = 0) => ({
    inputTokens: input,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    outputTokens: output,
    reasoningTokens: null,
    unreportedCalls,
  })
  it.each([
    ['what was reported counts', { usage: usage(100, 50) }, 150],
    ['more than the estimate counts in full', { usage: usage(1_000, 500) }, 1_500],
    ['nothing reported leaves the estimate', { usage: null }, 800],
    ['a part that was not reported counts as estimated', { usage: usage(100, null) }, 400],
    ['a failure that may have reached the provider leaves the estimate', { outcome: 'error', sent: 'unknown' }, 800],
    ['a report that is no count leaves the estimate', { usage: usage(Number.NaN, 50) }, 800],
    ['a report below nothing leaves the estimate', { usage: usage(-1_000, 50) }, 800],
    ['what was not sent is nothing', { outcome: 'not_run', sent: 'no' }, 0],
  ] as const)('%s', async (_what, ending, used) => {
    const { model, ended, bench, documents } = await rateRig({ limits })
    await model(1, estimate)
    await ended(1, { ...estimate, ...ending })
    const sum = (await documents()).flatMap(({ value }) => (value as { cells: [number, number][] }).cells)
    expect(sum.reduce((total, [, amount]) => total + amount, 0)).toBe(used)
    // told once more, it changes nothing
    const before = await documents()
    await ended(1, { ...estimate, ...ending })
    expect(await documents()).toEqual(before)
    expect(bench.health.errors).toBe(0)
  })
})

describe('whose calls are counted together', () => {
  it('users of two tenants are two, and nobody shares a bucket by having no name', async () => {
    const { model, bench } = await rateRig({ limits: [calls(1, { scope: 'user' })] })
    expect((await model(1, {}, { user: 'a', tenant: 't1' })).answer).toBe('passed')
    expect((await model(2, {}, { user: 'a', tenant: 't2' })).answer).toBe('passed')
    expect((await model(3, {}, { user: 'a' })).answer).toBe('passed')
    expect((await model(4, {}, { user: '-' })).answer).toBe('passed')
    expect((await model('4b', {}, { user: 'a', tenant: '-' })).answer).toBe('passed')
    expect((await model(5, {}, { user: 'a', tenant: 't1' })).error?.code).toBe('RATE_LIMIT_EXCEEDED')
    expect((await model(6)).error?.code).toBe('SCOPE_UNRESOLVED')
    expect((await model(7, { agentCode: null })).error?.code).toBe('SCOPE_UNRESOLVED')
    await bench.dispose()
  })

  it('the closing of a call whose scope could not be told fails nowhere', async () => {
    const { model, ended, bench } = await rateRig({ limits: [calls(1, { scope: 'user' })] })
    await model(1)
    await ended(1, { outcome: 'stopped', sent: 'no' })
    expect(bench.health.errors).toBe(0)
  })

  it('a key of any text is one of its own, also a long one and one that no store takes', async () => {
    const keys = [
      'a',
      'b',
      'x'.repeat(5_000),
      `${'x'.repeat(4_999)}y`,
      '\uD800',
      '\uDC00',
      '',
      '__proto__',
      '\0',
      '-',
      '=a',
    ]
    const { model, bench } = await rateRig({
      limits: [calls(1, { name: 'any', key: ({ model: name }) => name })],
    })
    for (const [id, name] of keys.entries()) expect((await model(id, { model: name })).answer).toBe('passed')
    for (const [id, name] of keys.entries())
      expect((await model(`again${id}`, { model: name })).error?.code).toBe('RATE_LIMIT_EXCEEDED')
    await bench.dispose()
  })

  it('a key function says null for calls that are not its business, and anything else than text stops the run', async () => {
    const key = ({ model: name }: { readonly model: string | null }): string | null =>
      name === 'free' ? null : name === 'odd' ? (7 as never) : 'k'
    const { model } = await rateRig({ limits: [calls(1, { name: 'own', key })] })
    for (let id = 0; id < 5; id++) expect((await model(id, { model: 'free' })).answer).toBe('passed')
    expect((await model(10, { model: 'odd' })).error?.code).toBe('RATE_LIMIT_KEY')
    expect((await model(11, { model: 'paid' })).answer).toBe('passed')
    expect((await model(12, { model: 'paid' })).answer).toBe('vetoed')
  })
})

describe('property: for any arrivals', { timeout: 60_000 }, () => {
  const arrivals = fc.array(
    fc.record({
      gapMs: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(1_500)),
      input: fc.integer({ min: 0, max: 30 }),
      usedInput: fc.integer({ min: 0, max: 30 }),
      closeAfter: fc.nat(4),
    }),
    { minLength: 20, maxLength: 60 },
  )

  it('no window ever admits more than its limit, a burst is kept, and every retry lies within the window and is true', async () => {
    let admittedInAll = 0
    let refusedInAll = 0
    await fc.assert(
      fc.asyncProperty(
        arrivals,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(100, 1_000, 3_000),
        async (sequence, max, burst, per) => {
          const bucket = Math.min(max, burst)
          const { model, ended, clock, bench } = await rateRig({
            limits: [calls(max, { per, burst: bucket }), { count: 'tokens', max: 60, per: per * 2 }],
          })
          const admitted: { at: number; amount: number }[] = []
          const tokens: { at: number; amount: number }[] = []
          const toClose: { id: number; due: number; tokens: number; entry: { amount: number } }[] = []
          for (const [id, { gapMs, input, usedInput, closeAfter }] of sequence.entries()) {
            clock.advance(gapMs)
            for (const open of toClose.filter(({ due }) => due === id)) {
              const used = Math.min(open.tokens, usedInput)
              open.entry.amount = used
              await ended(open.id, {
                usage: {
                  inputTokens: used,
                  cacheReadTokens: 0,
                  cacheWriteTokens: 0,
                  outputTokens: 0,
                  reasoningTokens: 0,
                  unreportedCalls: 0,
                },
              })
            }
            const facts = { inputTokensAtMost: input, maxOutputTokens: 0 }
            const answer = await model(id, facts)
            if (answer.answer === 'passed') {
              admitted.push({ at: clock.now(), amount: 1 })
              const entry = { at: clock.now(), amount: input }
              tokens.push(entry)
              toClose.push({ id, due: id + closeAfter, tokens: input, entry })
              admittedInAll++
            } else {
              refusedInAll++
              const retry = retryAfter(answer) as number
              expect(retry).toBeGreaterThanOrEqual(1)
              expect(retry).toBeLessThanOrEqual(per * 2)
            }
          }
          expect(mostWithin(per, admitted)).toBeLessThanOrEqual(max)
          expect(mostWithin(per * 2, tokens)).toBeLessThanOrEqual(60)
          expect(mostAbovePace(admitted, max / per)).toBeLessThanOrEqual(bucket + 1e-6)
          // what the last refusal says is true, where nobody else comes
          const last = await model('last', { inputTokensAtMost: 30, maxOutputTokens: 0 })
          if (last.answer !== 'passed') {
            clock.advance(retryAfter(last) as number)
            expect((await model('last', { inputTokensAtMost: 30, maxOutputTokens: 0 })).answer).toBe('passed')
          }
          expect(bench.health.errors).toBe(0)
          await bench.dispose()
        },
      ),
      { numRuns: 60 },
    )
    expect(admittedInAll).toBeGreaterThan(200)
    expect(refusedInAll).toBeGreaterThan(200)
  })

  it('what is admitted with waiting keeps the limit too, and everybody gets in', async () => {
    let waits = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(700), { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        async (gaps, max, burst) => {
          const { model, clock, bench } = await rateRig({
            limits: [calls(max, { per: 1_000, burst: Math.min(max, burst), wait: true })],
          })
          let at = clock.now()
          const queue = gaps.map((gap, id) => ({ id, at: (at += gap) }))
          const admitted: { at: number; amount: number }[] = []
          while (queue.length > 0) {
            queue.sort((left, right) => left.at - right.at || left.id - right.id)
            const next = queue[0] as (typeof queue)[number]
            clock.advance(Math.max(0, next.at - clock.now()))
            const answer = await model(next.id)
            if (answer.answer === 'passed') {
              admitted.push({ at: clock.now(), amount: 1 })
              queue.shift()
            } else {
              expect(answer.answer).toBe('waited')
              const wait = retryAfter(answer) as number
              expect(wait).toBeGreaterThanOrEqual(1)
              expect(wait).toBeLessThanOrEqual(1_000)
              next.at = clock.now() + wait
              waits++
            }
          }
          expect(admitted.length).toBe(gaps.length)
          expect(mostWithin(1_000, admitted)).toBeLessThanOrEqual(max)
          await bench.dispose()
        },
      ),
      { numRuns: 60 },
    )
    expect(waits).toBeGreaterThan(300)
  })

  it('a clock that is set back at any moment lets no window of elapsed time admit more, and holds nobody up for longer than one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ gapMs: fc.nat(600), backMs: fc.oneof(fc.constant(0), fc.nat(5_000_000)) }), {
          minLength: 10,
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 4 }),
        async (sequence, max) => {
          const { model, clock, bench } = await rateRig({ limits: [calls(max, { per: 1_000 })] })
          const admitted: { at: number; amount: number }[] = []
          for (const [id, { gapMs, backMs }] of sequence.entries()) {
            clock.advance(gapMs)
            clock.setNow(clock.now() - backMs)
            const answer = await model(id)
            if (answer.answer === 'passed') admitted.push({ at: clock.monotonic(), amount: 1 })
            else {
              expect(retryAfter(answer)).toBeLessThanOrEqual(1_000)
              clock.advance(retryAfter(answer) as number)
              expect((await model(`${id}b`)).answer).toBe('passed')
              admitted.push({ at: clock.monotonic(), amount: 1 })
            }
          }
          expect(mostWithin(1_000, admitted)).toBeLessThanOrEqual(max)
          await bench.dispose()
        },
      ),
      { numRuns: 80 },
    )
  })

  it('a wide limit keeps a bounded document, and still never admits more than its limit', async () => {
    const { model, ended, clock, documents } = await rateRig({ limits: [calls(1_000)] })
    const admitted: { at: number; amount: number }[] = []
    for (let id = 0; id < 3_000; id++) {
      clock.advance(41)
      const { answer } = await model(id)
      if (answer === 'passed') {
        admitted.push({ at: clock.now(), amount: 1 })
        await ended(id)
      }
    }
    expect(admitted.length).toBeGreaterThan(1_900)
    expect(mostWithin(MINUTE, admitted)).toBeLessThanOrEqual(1_000)
    const [document] = await documents()
    expect((document?.value as { cells: unknown[] }).cells.length).toBeLessThanOrEqual(128)
  })
})
