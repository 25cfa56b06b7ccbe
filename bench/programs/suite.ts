// Runs one suite and sends its figures to the process that started it.
import type { Figure } from '../measure/figure.js'
import { startServer } from '../server/start-server.js'
import { SUITES } from '../suites/suite-list.js'

/** What this program is told, as JSON in its first argument. */
export interface SuiteOrder {
  readonly suite: string
  readonly slices: number
  readonly warmUps: number
  readonly quick: boolean
  /** Only figures whose name contains one of these; all where there is none. */
  readonly only: readonly string[]
}

/** What it sends. */
export type SuiteMessage = { readonly progress: string } | { readonly figures: readonly Figure[] }

const order = JSON.parse(process.argv[2] ?? '') as SuiteOrder
const suite = SUITES.find((entry) => entry.name === order.suite)
if (suite === undefined) throw new Error(`There is no suite "${order.suite}".`)

const send = (message: SuiteMessage): void => void process.send?.(message)
const server = await startServer()
const figures = await suite.run(server, {
  slices: order.slices,
  warmUps: order.warmUps,
  quick: order.quick,
  wants: (name) => order.only.length === 0 || order.only.some((part) => name.includes(part)),
  progress: (progress) => send({ progress }),
})
server.close()
send({ figures })
process.disconnect()
