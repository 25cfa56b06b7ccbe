import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RATE_LIMIT_CODES } from './index.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('RATE_LIMIT_CODES', () => {
  it('the table of codes in the README names each of them, and no other', () => {
    const [, table = ''] = readme.match(/\n## Codes\n([\s\S]*?)\n## /) ?? []
    const named = [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1] as string)
    expect(named.sort()).toEqual(Object.keys(RATE_LIMIT_CODES).sort())
  })
})
