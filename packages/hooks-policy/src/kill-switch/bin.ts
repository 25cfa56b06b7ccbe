#!/usr/bin/env node
import { runSwitchProgram } from './switch-program.js'

process.exitCode = await runSwitchProgram(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
})
