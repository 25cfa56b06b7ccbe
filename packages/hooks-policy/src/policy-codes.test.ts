import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { POLICY_CODES } from './index.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('POLICY_CODES', () => {
  it.each(Object.keys(POLICY_CODES))('%s stands in the README', (code) => {
    expect(readme).toContain(`\`${code}\``)
  })

  it('every code that the README names in its table is one of them', () => {
    const named = [...readme.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1] as string)
    expect(named.sort()).toEqual(Object.keys(POLICY_CODES).sort())
  })
})
