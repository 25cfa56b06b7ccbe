import { readdirSync, readFileSync } from 'node:fs'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { callGate } from '@sluice/testkit'
import { sluiceMatchers } from '@sluice/testkit/vitest'
import { describe, expect, it } from 'vitest'
import { budget, BUDGET_ERROR_CODES, formatUsd } from './index.js'

expect.extend(sluiceMatchers)
const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('the README', () => {
  it('its shortest use works', async () => {
    const runtime = await createRuntime({
      store: createMemoryStore(),
      plugins: [
        budget({
          limits: [
            { scope: 'run', usd: '0.50', landing: { maxOutputTokens: 500 } },
            { scope: 'user', per: 'day', timeZone: 'Europe/Vienna', usd: '10', thresholdPercents: [80] },
            { scope: 'tenant', per: 'month', tokens: 50_000_000 },
          ],
        }),
      ],
    })
    const rows = await runtime.plugin(budget).status({ user: 'petra.k', tenant: 'acme' })
    expect(rows.map((row) => [row.limit, row.unit === 'usd' ? formatUsd(row.amount) : row.amount])).toEqual([
      ['user:day:usd', '10.00'],
      ['tenant:month:tokens', 50_000_000n],
    ])
    await runtime.close()
  })

  it('its test passes', async () => {
    const result = await callGate(
      budget({
        limits: [{ scope: 'run', usd: '0.01' }],
        prices: { models: { 'scripted/any': { input: '1', output: '2' } } },
      }),
      'beforeModelCall',
      { provider: 'scripted', model: 'any', inputTokensAtMost: 1_000, maxOutputTokens: 8_192 },
    )
    await expect(result).toBeVetoed({ code: 'BUDGET_EXHAUSTED' })
  })

  it('has a row for every code, and the tests provoke each of them', () => {
    const folder = new URL('./', import.meta.url)
    const isTest = (name: string) => name.endsWith('.test.ts') && name !== 'readme.test.ts'
    const tests = readdirSync(folder).filter(isTest)
    const provoked = tests.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
    for (const [code, row] of Object.entries(BUDGET_ERROR_CODES)) {
      expect(README).toContain(`| \`${code}\` |`)
      expect(provoked).toContain(`'${code}'`)
      expect([row.meaning, row.remedy].every((text) => /^\S.*[.!)]$/.test(text))).toBe(true)
    }
  })
})
