// The property tests with any number of runs. The number and the seed reach the tests as SLUICE_FUZZ_RUNS and
// SLUICE_FUZZ_SEED; every test file with `.fuzz.` or `.property.` in its name takes part.
//
//   pnpm fuzz                      100 000 runs a property
//   pnpm fuzz 1000000              any number
//   pnpm fuzz 1000 --seed 42       a given seed
import { scriptArguments } from './lib/arguments.mjs'
import { createSteps } from './lib/steps.mjs'

const args = scriptArguments()
const seedAt = args.indexOf('--seed')
const seed = seedAt >= 0 ? args.splice(seedAt, 2)[1] : undefined
const runs = args[0] ?? '100000'
if (!/^\d+$/.test(runs) || (seedAt >= 0 && !/^-?\d+$/.test(seed ?? '')) || args.length > 1) {
  console.error('usage: pnpm fuzz [runs] [--seed number]')
  process.exit(2)
}
const { code } = await createSteps().run(
  `property tests, ${runs} runs each`,
  'vitest',
  ['run', '--project', 'unit', '--project', 'runs', '--testTimeout=0', '--hookTimeout=0', '.fuzz.', '.property.'],
  { stream: true, env: { SLUICE_FUZZ_RUNS: runs, ...(seed ? { SLUICE_FUZZ_SEED: seed } : {}) } },
)
process.exitCode = code
