// `npm test`: every check of the repository, one after another. A step that fails does not stop the later ones; its
// output is shown. The last line is `N passed, N failed`: the tests that vitest counted, and one for each other step.
//
//   npm test
//   node scripts/check.mjs --only lint,types      (the names below)
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { scriptArguments } from './lib/arguments.mjs'
import { installArgs } from './lib/install.mjs'
import { createSteps, root } from './lib/steps.mjs'

const node = process.execPath
const vitestReport = join(root, '.cache', 'vitest.json')

const checks = [
  { name: 'install', command: 'pnpm', args: installArgs, required: true },
  { name: 'format', command: 'biome', args: ['format', '--colors=off', '.'] },
  { name: 'lint', command: node, args: ['scripts/lint.mjs'] },
  { name: 'layers', command: node, args: ['scripts/check-layers.mjs', '--self-test'] },
  { name: 'types', command: 'tsc', args: ['--build', '--pretty', 'false'] },
  { name: 'build', command: node, args: ['scripts/build.mjs'] },
  { name: 'packages', command: node, args: ['scripts/check-packages.mjs'] },
  { name: 'walkthrough', command: node, args: ['scripts/readme-walkthrough.mjs'] },
  { name: 'rules', command: node, args: ['scripts/behaviour-coverage.mjs', '--check'] },
  { name: 'codes', command: node, args: ['scripts/error-codes.mjs', '--check'] },
  { name: 'providers', command: node, args: ['scripts/provider-table.mjs', '--check'] },
  { name: 'unused', command: 'knip', args: ['--no-progress'] },
  {
    name: 'tests',
    command: 'vitest',
    args: ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`],
    stream: true,
  },
  { name: 'examples', command: node, args: ['scripts/run-examples.mjs'] },
]

const args = scriptArguments()
const only = args.includes('--only') ? args[args.indexOf('--only') + 1]?.split(',') : undefined
const unknown = (only ?? []).filter((name) => !checks.some((check) => check.name === name))
if (unknown.length > 0 || (args.length > 0 && !only)) {
  console.error(`check: unknown argument or check: ${[...unknown, ...(only ? [] : args)].join(', ')}`)
  console.error(`known: --only ${checks.map((check) => check.name).join(',')}`)
  process.exit(2)
}

let passed = 0
let failed = 0
const failures = []

const countTests = ({ code }) => {
  let report
  try {
    report = JSON.parse(readFileSync(vitestReport, 'utf8'))
  } catch (error) {
    console.log(`  no test report: ${error.message}`)
    failed += 1
    failures.push('tests (no report)')
    return
  }
  passed += report.numPassedTests
  failed += report.numFailedTests
  for (const file of report.testResults) {
    const bad = file.assertionResults.filter((test) => test.status === 'failed')
    for (const test of bad) failures.push(`${file.name.slice(root.length + 1)}: ${test.fullName}`)
    if (file.status === 'failed' && bad.length === 0) {
      failed += 1
      failures.push(`${file.name.slice(root.length + 1)} (the file itself)`)
    }
  }
  const skipped = report.numPendingTests + (report.numTodoTests ?? 0)
  if (skipped > 0) console.log(`  ${skipped} tests skipped or to do`)
  if (report.numTotalTests === 0) {
    failed += 1
    failures.push('tests (none ran)')
  } else if (code !== 0 && !failures.some((line) => line.includes(': ') || line.includes('(the file'))) {
    failed += 1
    failures.push(`tests (exit code ${code}: unhandled errors or type errors, see above)`)
  }
}

const steps = createSteps()
mkdirSync(join(root, '.cache'), { recursive: true })
const startedAt = Date.now()
for (const { name, command, args: stepArgs, required, stream } of checks) {
  if (only && !only.includes(name)) continue
  if (name === 'tests') rmSync(vitestReport, { force: true })
  const result = await steps.run(name, command, stepArgs, { stream, env: { NO_COLOR: '1' } })
  if (name === 'tests') {
    countTests(result)
  } else if (result.code === 0) {
    passed += 1
  } else {
    failed += 1
    failures.push(`${name} (step)`)
    if (required) {
      console.log(`  nothing else can run without this step`)
      break
    }
  }
}

console.log(`> summary, ${Math.round((Date.now() - startedAt) / 1000)} s`)
for (const line of failures.slice(0, 100)) console.log(`  failed: ${line}`)
if (failures.length > 100) console.log(`  and ${failures.length - 100} more`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
