import { describe, expect, it } from 'vitest'
import { runExample } from '../src/run-example.js'

async function printed() {
  const lines: string[] = []
  const code = await runExample((line) => lines.push(line))
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
  })

  it('prints the same in every run', async () => {
    expect(await printed()).toEqual(await printed())
  })
})
