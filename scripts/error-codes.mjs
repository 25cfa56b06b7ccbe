// The reference page of error codes, made from the closed table of each package.
//
//   node scripts/error-codes.mjs            writes docs/error-codes.md
//   node scripts/error-codes.mjs --check    fails where the page is stale
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tsImport } from 'tsx/esm/api'
import { root } from './lib/steps.mjs'

const page = join(root, 'docs', 'error-codes.md')
const tables = [
  ['@sluice/core', 'packages/core/src/errors/error-codes.ts', 'ERROR_CODES'],
  ['@sluice/agents', 'packages/agents/src/error-codes.ts', 'AGENTS_ERROR_CODES'],
  ['@sluice/hooks-budget', 'packages/hooks-budget/src/error-codes.ts', 'BUDGET_ERROR_CODES'],
  ['@sluice/hooks-rate-limit', 'packages/hooks-rate-limit/src/rate-limit-codes.ts', 'RATE_LIMIT_CODES'],
  ['@sluice/hooks-audit', 'packages/hooks-audit/src/audit-error-codes.ts', 'AUDIT_ERROR_CODES'],
  ['@sluice/hooks-policy', 'packages/hooks-policy/src/policy-codes.ts', 'POLICY_CODES'],
  ['@sluice/testkit', 'packages/testkit/src/error-codes.ts', 'TESTKIT_ERROR_CODES'],
]

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const lines = [
  '# Error codes',
  '',
  'Made by `node scripts/error-codes.mjs` from the tables in the packages; do not edit.',
  '',
  'Every error of Sluice is a `SluiceError`: `code` is one of these and is never renamed, `message` says what happened, to what, and',
  'what to do, `reason` tells finer where one code covers several situations, `details` holds the figures. Recognise one with',
  '`SluiceError.isInstance(error, code)`. A `Veto` carries the code of the plugin that threw it: those of the guards stand below, with',
  'them; those of other plugins stand in no table here.',
  '"Again" marks codes where the same call may succeed later without a change. The number is that of the original system.',
]
for (const [name, file, exported] of tables) {
  const { [exported]: codes } = await tsImport(join(root, file), import.meta.url)
  lines.push(
    '',
    `## \`${name}\``,
    '',
    '| code | what happened | what to do | again | original |',
    '| --- | --- | --- | --- | --- |',
  )
  for (const [code, row] of Object.entries(codes))
    lines.push(
      `| \`${code}\` | ${cell(row.meaning)} | ${cell(row.remedy)} | ${row.retryable === true ? 'yes' : ''} | ${row.original ?? ''} |`,
    )
}
const text = `${lines.join('\n')}\n`

if (process.argv.includes('--check')) {
  let stored = ''
  try {
    stored = readFileSync(page, 'utf8')
  } catch {
    // no page is a stale page
  }
  if (stored !== text) {
    console.error('error-codes: docs/error-codes.md is stale: run `node scripts/error-codes.mjs`')
    process.exitCode = 1
  } else console.log('error-codes: the page is up to date')
} else {
  writeFileSync(page, text)
  console.log('error-codes: wrote docs/error-codes.md')
}
