// Steps with one line at their start, a heartbeat while they are quiet, and their output kept for the moment it is
// needed. Used by every script that runs other programs.
//
//   const steps = createSteps()
//   await steps.run('build', 'node', ['scripts/build.mjs'])          prints "> build", and the output only on failure
//   await steps.run('tests', 'vitest', ['run'], { stream: true })    passes the output on as it comes
import { spawn } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

const heartbeatMs = 20_000

/** The environment of a child: binaries of the workspace on PATH, no colours in captured output, no update notices. */
export const childEnv = (extra = {}) => ({
  ...process.env,
  PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  NO_UPDATE_NOTIFIER: '1',
  pnpm_config_update_notifier: 'false',
  ...extra,
})

/**
 * Runs one program. Resolves with `{ code, output }` and never rejects: a program that cannot be started has code 127
 * and says why in its output.
 */
export const runProgram = (command, args, { cwd = root, env = {}, onOutput = () => {} } = {}) =>
  new Promise((resolve) => {
    const chunks = []
    const take = (chunk) => {
      chunks.push(chunk)
      onOutput(chunk)
    }
    // Only Windows needs a shell, to find `pnpm.cmd` and the like.
    const child = spawn(command, args, {
      cwd,
      env: childEnv(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    const finish = (code) => resolve({ code, output: Buffer.concat(chunks).toString('utf8') })
    child.on('error', (error) => {
      take(Buffer.from(`could not start ${command}: ${error.message}\n`))
      finish(127)
    })
    child.on('close', (code, signal) => {
      if (signal) take(Buffer.from(`${command} was ended by ${signal}\n`))
      finish(code ?? 1)
    })
  })

/** A printer of steps. Each step has one line at its start; a quiet one says every 20 seconds that it still runs. */
export const createSteps = ({ print = (text) => process.stdout.write(text) } = {}) => {
  const results = []

  const watch = (title) => {
    const startedAt = Date.now()
    let printedAt = startedAt
    const timer = setInterval(() => {
      if (Date.now() - printedAt < heartbeatMs) return
      printedAt = Date.now()
      print(`  still running: ${title}, ${Math.round((printedAt - startedAt) / 1000)} s\n`)
    }, 1_000)
    return {
      printed: () => {
        printedAt = Date.now()
      },
      stop: () => {
        clearInterval(timer)
        return ((Date.now() - startedAt) / 1000).toFixed(1)
      },
    }
  }

  /** Runs `work`, an async function that resolves with `{ code, output }`, as one step. */
  const runWork = async (title, work, { stream = false } = {}) => {
    print(`> ${title}\n`)
    const clock = watch(title)
    const onOutput = (chunk) => {
      if (!stream) return
      clock.printed()
      print(chunk)
    }
    let result
    try {
      result = await work(onOutput)
    } catch (error) {
      result = { code: 1, output: `${error?.stack ?? error}\n` }
    }
    const seconds = clock.stop()
    if (result.code !== 0) {
      if (!stream && result.output) print(result.output.endsWith('\n') ? result.output : `${result.output}\n`)
      print(`  failed: ${title} (exit code ${result.code}, ${seconds} s)\n`)
    } else if (process.env.SLUICE_TIMINGS) print(`  done: ${title}, ${seconds} s\n`)
    const entry = { title, ...result }
    results.push(entry)
    return entry
  }

  const run = (title, command, args, { stream = false, ...options } = {}) =>
    runWork(title, (onOutput) => runProgram(command, args, { ...options, onOutput }), { stream })

  return { run, runWork, results }
}
