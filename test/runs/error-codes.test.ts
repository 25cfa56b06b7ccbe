import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AGENTS_ERROR_CODES } from '@sluice/agents'
import { ERROR_CODES } from '@sluice/core'
import { AUDIT_ERROR_CODES } from '@sluice/hooks-audit'
import { BUDGET_ERROR_CODES } from '@sluice/hooks-budget'
import { POLICY_CODES } from '@sluice/hooks-policy'
import { RATE_LIMIT_CODES } from '@sluice/hooks-rate-limit'
import { TESTKIT_ERROR_CODES } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SKIPPED = new Set(['node_modules', 'dist', '.types', 'fixtures'])

function textOf(folders: readonly string[], wanted: (path: string) => boolean): string {
  const texts: string[] = []
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (SKIPPED.has(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (path.endsWith('.ts') && wanted(path)) texts.push(readFileSync(path, 'utf8'))
    }
  }
  for (const folder of folders) walk(join(ROOT, folder))
  return texts.join('\n')
}

const isTest = (path: string) =>
  /\.test(-d)?\.ts$/.test(path) || /[/\\]contracts[/\\]/.test(path) || path.includes('.child.')
const isTable = (path: string) => path.endsWith('error-codes.ts') || path.endsWith('error-codes.test.ts')
const quoted = (text: string) => new Set([...text.matchAll(/['"`]([A-Z][A-Z0-9_]{2,})['"`]/g)].map((match) => match[1]))

describe('the table of error codes', () => {
  const sources = quoted(textOf(['packages'], (path) => !isTest(path) && !isTable(path)))
  const tests = quoted(textOf(['packages', 'test', 'examples'], (path) => isTest(path) && !isTable(path)))
  const tables = { ...ERROR_CODES, ...AGENTS_ERROR_CODES, ...TESTKIT_ERROR_CODES }

  // cites: X-3, Z-1
  it('X-3: every code is raised by the sources and provoked by a test, and has a meaning and a remedy', () => {
    expect(Object.keys(tables).filter((code) => !sources.has(code))).toEqual([])
    expect(Object.keys(tables).filter((code) => !tests.has(code))).toEqual([])
    for (const [code, row] of Object.entries(tables)) {
      expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$|^BUSY$/)
      expect([row.meaning.endsWith('.'), row.remedy.length > 3]).toEqual([true, true])
    }
  })

  it('X-3: the page of the docs has them all, and is that of the tables', async () => {
    const page = readFileSync(join(ROOT, 'docs', 'error-codes.md'), 'utf8')
    const listed = [...page.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map((match) => match[1])
    const tables = [
      ERROR_CODES,
      AGENTS_ERROR_CODES,
      BUDGET_ERROR_CODES,
      RATE_LIMIT_CODES,
      AUDIT_ERROR_CODES,
      POLICY_CODES,
      TESTKIT_ERROR_CODES,
    ]
    expect(listed).toEqual(tables.flatMap((table) => Object.keys(table)))
    const script = join(ROOT, 'scripts', 'error-codes.mjs')
    const { stdout } = await promisify(execFile)(process.execPath, [script, '--check'])
    expect(stdout).toContain('up to date')
  })

  it('Sluice raises no code that is in no table', () => {
    const raised = textOf(['packages/core/src', 'packages/providers/src'], (path) => !isTest(path))
    const codes = [...raised.matchAll(/new (?:SluiceError|ProviderError)\(\s*'([A-Z0-9_]+)'/g)].map(
      (match) => match[1] as string,
    )
    expect(codes.length).toBeGreaterThan(50)
    expect([...new Set(codes)].filter((code) => !Object.hasOwn(ERROR_CODES, code))).toEqual([])
  })
})
