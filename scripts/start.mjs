// `npm start`: install, build what changed, run the example. Arguments after `--` go to the example:
//
//   npm start
//   npm start -- --live
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { scriptArguments } from './lib/arguments.mjs'
import { installArgs } from './lib/install.mjs'
import { childEnv, createSteps, root } from './lib/steps.mjs'

const exampleArgs = scriptArguments()
const steps = createSteps()

for (const [title, command, args] of [
  ['install', 'pnpm', installArgs],
  ['build', process.execPath, ['scripts/build.mjs']],
]) {
  const { code } = await steps.run(title, command, args)
  if (code !== 0) process.exit(code)
}

console.log(`> example: ap-desk${exampleArgs.length > 0 ? ` ${exampleArgs.join(' ')}` : ''}`)
// tsx runs the example's source; the packages it imports are the built ones, as a user gets them.
const example = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', ...exampleArgs], {
  cwd: join(root, 'examples', 'ap-desk'),
  env: childEnv(),
  stdio: 'inherit',
})
example.on('error', (error) => {
  console.error(`start: could not run the example: ${error.message}`)
  process.exitCode = 1
})
example.on('close', (code, signal) => {
  if (signal) console.error(`start: the example was ended by ${signal}`)
  process.exitCode = code ?? 1
})
