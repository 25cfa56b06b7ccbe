import type { Figure } from '../measure/figure.js'
import type { LoopbackServer } from '../server/start-server.js'
import { bytesSuite } from './bytes.js'
import { cpuSuite } from './cpu.js'
import { dispatchSuite } from './dispatch.js'
import { heldSuite } from './held.js'
import { splitSuite } from './split.js'
import { startSuite } from './start.js'
import { storeSuite } from './store.js'
import type { SuiteOptions } from './suite-options.js'

/** A group of figures that is measured in a process of its own. */
export interface Suite {
  /** First part of the names of its figures. */
  readonly name: string
  /** Flags of Node for its process. */
  readonly flags: readonly string[]
  run(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]>
}

export const SUITES: readonly Suite[] = [
  { name: 'dispatch', flags: [], run: (_server, options) => dispatchSuite(options) },
  { name: 'store', flags: [], run: (_server, options) => storeSuite(options) },
  { name: 'start', flags: [], run: startSuite },
  { name: 'held', flags: [], run: heldSuite },
  // room for all that a slice allocates, so that no collection falls into it (megabytes)
  { name: 'bytes', flags: ['--min-semi-space-size=256', '--max-semi-space-size=256'], run: bytesSuite },
  { name: 'cpu', flags: [], run: cpuSuite },
  { name: 'split', flags: [], run: splitSuite },
]
