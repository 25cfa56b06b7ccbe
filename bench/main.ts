// The benchmarks: `pnpm bench [--quick] [--only PART] [--json FILE]`. Every ratio is against a hand-written loop on the raw SDK,
// measured in the same slices on a loopback server in a process of its own.
import { writeFileSync } from 'node:fs'
import type { Figure } from './measure/figure.js'
import { figuresTable } from './report/print-figures.js'
import { startServer } from './server/start-server.js'
import { cpuSuite } from './suites/cpu.js'
import { dispatchSuite } from './suites/dispatch.js'
import { bytesSuite, heldSuite } from './suites/memory.js'
import { startupSuite } from './suites/startup.js'
import { storeSuite } from './suites/store.js'
import type { SuiteOptions } from './suites/suite-options.js'

const args = process.argv.slice(2)
const after = (flag: string): string | undefined => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined)
const only = after('--only')
const json = after('--json')
const quick = args.includes('--quick')
const unknown = args.filter((arg, index) =>
  arg.startsWith('--')
    ? !['--only', '--json', '--quick'].includes(arg)
    : !['--only', '--json'].includes(args[index - 1] ?? ''),
)
if (unknown.length > 0) {
  console.error(`bench: unknown argument ${unknown.join(', ')}; known are --quick, --only PART, --json FILE`)
  process.exit(2)
}

const options: SuiteOptions = {
  slices: quick ? 8 : 40,
  warmUps: quick ? 2 : 6,
  wants: (name) => only === undefined || name.includes(only),
  progress: (what) => console.error(`  measuring ${what}`),
}
const server = await startServer()
const figures: Figure[] = []
try {
  figures.push(...(await dispatchSuite(options)))
  figures.push(...(await startupSuite(server, options)))
  figures.push(...(await bytesSuite(server, options)))
  figures.push(...(await heldSuite(server, options)))
  figures.push(...(await cpuSuite(server, options)))
  figures.push(...(await storeSuite(options)))
} finally {
  server.close()
}
console.log(
  `Node ${process.versions.node}, ${quick ? 'quick: figures of few slices, for development only' : '40 interleaved slices a side'}\n`,
)
console.log(figuresTable(figures))
if (json !== undefined) {
  writeFileSync(
    json,
    `${JSON.stringify({ node: process.versions.node, slices: options.slices, figures }, undefined, 2)}\n`,
  )
  console.log(`\nwritten to ${json}`)
}
process.exit(0)
