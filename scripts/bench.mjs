// The benchmarks, on the built packages. Arguments go to bench/main.ts, for example `pnpm bench --json FILE`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { scriptArguments } from './lib/arguments.mjs'
import { childEnv, createSteps, root } from './lib/steps.mjs'

const args = scriptArguments()
const build = await createSteps().run('build', process.execPath, ['scripts/build.mjs'])
if (build.code !== 0) process.exit(build.code)
console.log('> benchmarks')
const bench = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', join('bench', 'main.ts'), ...args], {
  cwd: root,
  env: childEnv({ NODE_ENV: 'production' }),
  stdio: 'inherit',
})
bench.on('error', (error) => {
  console.error(`bench: could not start: ${error.message}`)
  process.exitCode = 1
})
bench.on('close', (code, signal) => {
  if (signal) console.error(`bench: ended by ${signal}`)
  process.exitCode = code ?? 1
})
