// `npm start`: install, build what changed, run the examples. With arguments after `--` only the desk runs, with them:
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

// tsx runs the source of an example; the packages it imports are the built ones, as a user gets them.
const runExample = (name, args) =>
  new Promise((resolve) => {
    console.log(`> example: ${[name, ...args].join(' ')}`)
    const example = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', ...args], {
      cwd: join(root, 'examples', name),
      env: childEnv(),
      stdio: 'inherit',
    })
    example.on('error', (error) => {
      console.error(`start: could not run the example: ${error.message}`)
      resolve(1)
    })
    example.on('close', (code, signal) => {
      if (signal) console.error(`start: the example was ended by ${signal}`)
      resolve(code ?? 1)
    })
  })

process.exitCode = await runExample('ap-desk', exampleArgs)
// Arguments are for the desk alone.
for (const name of exampleArgs.length === 0
  ? ['support-desk', 'haiku-loop', 'travel-planner', 'support-handoff', 'party-panel']
  : []) {
  if (process.exitCode === 0) process.exitCode = await runExample(name, [])
}
