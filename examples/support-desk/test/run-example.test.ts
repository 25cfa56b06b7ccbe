import { readFileSync } from 'node:fs'
import { budget } from '@sluice/hooks-budget'
import { rateLimit } from '@sluice/hooks-rate-limit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runExample } from '../src/run-example.js'
import { openScriptedDesk, playScene } from '../src/scenes/play-scenes.js'
import { SCENES } from '../src/scenes/scenes.js'

async function printed(scenes = SCENES) {
  const lines: string[] = []
  const code = await runExample((line) => lines.push(line), scenes)
  return { code, text: lines.join('\n') }
}

describe('npm start', () => {
  it('plays all scenes as expected and ends with what each tenant has spent', async () => {
    const { code, text } = await printed()
    expect(code).toBe(0)
    expect(text).toContain('BUDGET_EXHAUSTED; nothing was sent')
    expect(text).toContain('RATE_LIMIT_EXCEEDED; nothing was sent')
    expect(text).toMatch(/acme {5}spent \$0\.0324 of \$5\.00 this month, \$4\.9676 left; log of \d+ entries: verified/)
    expect(text).toMatch(
      /globex {3}spent \$0\.0648 of \$0\.09 this month, \$0\.0252 left; log of \d+ entries: verified/,
    )
    expect(text).toContain('9 scenes, each ended as expected; 12 requests, none left this machine')
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
  })

  it('CASE-09: says what is left, what the request could take, and which output cap would fit', async () => {
    const { text } = await printed()
    const flat = text.replaceAll(/\s+/g, ' ')
    expect(flat).toContain('limit "starter-month" has $0.0076 left of $0.04')
    expect(flat).toContain('It would fit with maxOutputTokens: 356.')
    expect(flat).toContain('Limit "starter-runs" admits 4 runs per minute; 4 are used, 1 more asked for.')
  })

  it('gives 1 where a scene ends otherwise than it should', async () => {
    const [first] = SCENES
    if (first?.kind !== 'ask') throw new Error('The first scene is no question.')
    const { code, text } = await printed([{ ...first, expected: 'BUDGET_EXHAUSTED' }])
    expect(code).toBe(1)
    expect(text).toContain('1 ended otherwise than expected')
  })

  it('README: what it shows of the end is what is printed', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const ends = (await printed()).text.split('\n').filter((line) => / this month, /.test(line))
    expect(ends).toHaveLength(2)
    for (const line of ends) expect(readme).toContain(line)
  })

  it('in the end one ticket is open, and each tenant has used what it was booked with, and nothing is held', async () => {
    const scripted = await openScriptedDesk()
    onTestFinished(() => scripted.desk.close())
    for (const scene of SCENES) await playScene(scene, scripted)
    const { desk, orders, provider } = scripted
    expect(orders.get('acme')?.tickets).toEqual(['ACME-1 A-101: came broken'])
    expect(orders.get('globex')?.tickets).toEqual([])
    expect(provider.calls).toHaveLength(12)
    // four requests of the one and eight of the other, at $0.0081 each
    expect(await desk.spent('acme')).toMatchObject({ spent: 32_400_000n, held: 0n, unknown: 0n, toppedUp: 0n })
    expect(await desk.spent('globex')).toMatchObject({
      spent: 64_800_000n,
      held: 0n,
      unknown: 0n,
      toppedUp: 50_000_000n,
    })
    // the minute of the first runs is over: one run of the small tenant stands in this one, none of the large one
    const rate = desk.runtime.plugin(rateLimit)
    expect(await rate.status('starter-runs', { tenant: 'globex' })).toMatchObject({ used: 1, left: 3 })
    expect(await rate.status('business-runs', { tenant: 'acme' })).toMatchObject({ used: 0, left: 60 })
    expect((await desk.runtime.plugin(budget).changes()).items).toMatchObject([
      { change: 'topUp', limit: 'starter-month', who: 'billing', key: 'invoice-2044' },
    ])
    for (const tenant of ['acme', 'globex'])
      expect(await desk.verify(tenant)).toMatchObject({ ok: true, pairs: { openCount: 0 } })
  })

  it('prints the same in every run', async () => {
    expect(await printed()).toEqual(await printed())
  })
})
