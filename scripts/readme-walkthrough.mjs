// The README's walk-through as a script: every file and command of it is taken from the text, and run in an empty folder
// from the packed packages. It ends in a passing test, has at most 8 steps, and at most 40 lines of code. Needs the build.
//
//   node scripts/readme-walkthrough.mjs               runs it
//   node scripts/readme-walkthrough.mjs --keep        leaves the folder and prints its path
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packedPackages } from './lib/packed-packages.mjs'
import { root, runProgram } from './lib/steps.mjs'

const MAX_STEPS = 8
const MAX_LINES = 40

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const part = readme.split('<!-- walkthrough -->')[1]?.split('<!-- /walkthrough -->')[0]
if (part === undefined) fail('README.md holds no <!-- walkthrough --> ... <!-- /walkthrough -->')

const blocks = [...part.matchAll(/^```(\w+)(?: file=(\S+))?\n([\s\S]*?)^```$/gm)].map(([, language, file, text]) => ({
  language,
  file,
  text,
}))
const steps = [...part.matchAll(/^\*\*\d+\. /gm)].length
const lines = blocks.flatMap(({ text }) => text.split('\n').filter((line) => line.trim() !== '')).length
if (steps > MAX_STEPS) fail(`the walk-through has ${steps} steps; at most ${MAX_STEPS} are wanted`)
if (lines > MAX_LINES) fail(`the walk-through has ${lines} lines of code; at most ${MAX_LINES} are wanted`)
if (!blocks.some(({ file }) => file?.endsWith('.test.js'))) fail('the walk-through ends in no test')

const keep = process.argv.includes('--keep')
const scratch = mkdtempSync(join(tmpdir(), 'sluice-walkthrough-'))
const folder = join(scratch, 'app')
mkdirSync(folder)
try {
  const [core, testkit] = await packedPackages(['core', 'testkit'])
  const tarballs = { '@sluice/core': core, '@sluice/testkit': testkit }
  let ran = 0
  for (const { language, file, text } of blocks) {
    if (file !== undefined) {
      writeFileSync(join(folder, file), text)
      continue
    }
    if (language !== 'sh') fail(`a block of ${language} has no file name`)
    for (const command of text.trim().split('\n')) {
      console.log(`$ ${command}`)
      const { code, output } = await runProgram(
        'sh',
        ['-ec', `unset npm_config_package npm_config_call\n${fromTarballs(command, tarballs)}`],
        { cwd: folder },
      )
      const shown = output.trim().split('\n').slice(-8)
      for (const line of shown) console.log(`  ${line}`)
      if (code !== 0) fail(`"${command}" ended with exit code ${code}\n${output}`)
      ran += 1
      if (command.includes('vitest run') && !/Tests\s+\d+ passed/.test(output.replaceAll(/\u001b\[[0-9;]*m/g, '')))
        fail('no test passed')
    }
  }
  console.log(`walk-through: ${steps} steps, ${lines} lines of code, ${ran} commands run`)
} finally {
  if (keep) console.log(`kept: ${folder}`)
  else rmSync(scratch, { recursive: true, force: true })
}

/**
 * The packages under test in place of published ones, and the pinned versions of the others. (What an outer `npm exec` left in the
 * environment would be taken for arguments of `npx`: it is unset.)
 */
function fromTarballs(command, tarballs) {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'))
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const pins = { 'zod@4': `zod@${dependencies.zod}`, 'vitest@4': `vitest@${devDependencies.vitest}`, ...tarballs }
  return command
    .split(' ')
    .map((word) => pins[word] ?? word)
    .join(' ')
    .replace('npm install', 'npm install --no-audit --no-fund --loglevel=error')
}

function fail(message) {
  console.error(`walk-through: ${message}`)
  process.exit(1)
}
