// oxlint, twice: the rules of .oxlintrc.json with type information, then the hard limit of 500 lines a source file.
// (One configuration holds a rule only once, and `max-lines` is a warning at 300 lines and an error at 500.)
import { runProgram } from './lib/steps.mjs'

const runs = [
  ['--type-aware', '-c', '.oxlintrc.json', '.'],
  ['-c', '.oxlintrc.limits.json', 'packages'],
]
let code = 0
for (const args of runs) {
  const result = await runProgram('oxlint', args, { onOutput: (chunk) => process.stdout.write(chunk) })
  code ||= result.code
}
process.exitCode = code
