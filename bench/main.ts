// Measures Sluice against a hand-written loop on the official OpenAI SDK. `pnpm bench` builds and runs it; the table of the
// last full run, and what each figure means, stands in docs/benchmarks.md.
import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Figure } from './measure/figure.js'
import type { SuiteMessage, SuiteOrder } from './programs/suite.js'
import { markdownTable } from './report/markdown-table.js'
import { printFigures } from './report/print-figures.js'
import { readArguments } from './report/read-arguments.js'
import { SUITES } from './suites/suite-list.js'
import type { Suite } from './suites/suite-list.js'

const FULL = { slices: 40, warmUps: 12 }
const QUICK = { slices: 10, warmUps: 5 }

const { quick, only, json, table } = readArguments(process.argv.slice(2))
console.log(`Node ${process.version}${quick ? ', quick: for development, not for the record' : ''}`)
const figures: Figure[] = []
for (const suite of SUITES) {
  if (only.length > 0 && !only.some((part) => suite.name.includes(part) || part.startsWith(suite.name))) continue
  console.log(`> ${suite.name}`)
  const measured = await runSuite(suite)
  if (measured.length > 0) printFigures(measured)
  figures.push(...measured)
  // after each suite: a full run takes long, and what was measured outlasts an end before its time
  writeFigures()
}
const missed = figures.filter((figure) => figure.verdict === 'missed').length
const met = figures.filter((figure) => figure.target !== undefined).length - missed
console.log(`${figures.length} figures; of those with a target, ${met} met it and ${missed} missed it`)
/** A suite has a process of its own: what one leaves in the heap and in the compiler's memory reaches no other. */
function runSuite(suite: Suite): Promise<readonly Figure[]> {
  const order: SuiteOrder = { suite: suite.name, quick, only, ...(quick ? QUICK : FULL) }
  const program = fileURLToPath(new URL('./programs/suite.ts', import.meta.url))
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: ['--expose-gc', ...suite.flags, '--import', 'tsx'],
  })
  return new Promise((resolve, reject) => {
    let received: readonly Figure[] | undefined
    child.on('message', (message: SuiteMessage) => {
      if ('figures' in message) received = message.figures
      else console.log(`  measuring ${message.progress}`)
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (received !== undefined && code === 0) resolve(received)
      else reject(new Error(`Suite ${suite.name} ended with ${signal ?? `code ${String(code)}`} before it was done.`))
    })
  })
}

function writeFigures(): void {
  const { node, v8 } = process.versions
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ node, v8, quick, figures }, null, 2)}\n`)
  if (table !== undefined) writeFileSync(table, `${markdownTable(figures)}\n`)
}
