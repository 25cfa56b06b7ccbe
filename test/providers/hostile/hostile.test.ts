// 200 runs at once against a server on loopback that resets, trickles, cuts, mislabels, floods and nests: every run ends with
// a result or with an error that has a name, and nothing of them stays.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ERROR_CODES } from '@sluice/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WIRED } from '../wire/adapters.js'
import { FAULTS } from './faults.js'
import type { HostileReport } from './hostile.child.js'
import type { HostileServer } from './hostile-server.js'
import { serveHostile } from './hostile-server.js'
import { planOf } from './run-plan.js'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 1_000_000)
const RUNS = 200
const MOST_BYTES = 512 * 1024 * 1024

/** Runs the child to its end; what it says on standard error is the failure. */
function child(url: string): Promise<HostileReport> {
  const file = fileURLToPath(new URL('./hostile.child.ts', import.meta.url))
  const args = ['--expose-gc', '--conditions=sluice-source', '--import', 'tsx', file, url, String(SEED), String(RUNS)]
  return new Promise((resolve, reject) => {
    const run = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let [out, err] = ['', '']
    run.stdout.on('data', (chunk) => (out += String(chunk)))
    run.stderr.on('data', (chunk) => (err += String(chunk)))
    run.on('error', reject)
    run.on('close', (code, signal) => {
      if (code === 0 && err === '') resolve(JSON.parse(out) as HostileReport)
      else reject(new Error(`the child ended with ${code ?? signal}: ${err.slice(0, 4000)}`))
    })
  })
}

describe('a hostile server', () => {
  let server: HostileServer
  let report: HostileReport
  const endsOf = (name: string) => report.ends.filter(({ run }) => planOf(SEED, run).fault.name === name)

  beforeAll(async () => {
    console.log(`hostile server: seed ${SEED} (SLUICE_SEED)`)
    server = await serveHostile(SEED)
    report = await child(server.url)
    const mib = (bytes: number) => Math.round(bytes / 1024 / 1024)
    console.log(
      `hostile server: ${report.ends.length} runs, ${report.mostInFlight} at once; heap ${mib(report.heapBefore)} to ` +
        `${mib(report.heapAfter)} MiB, peak ${mib(report.peakRss)} MiB of the whole process`,
    )
  })
  afterAll(() => server.close())

  it('has all runs in flight at once, each fault met by runs of several protocols, plain and streamed', () => {
    expect(report.mostInFlight).toBe(RUNS)
    expect(report.ends).toHaveLength(RUNS)
    const plans = report.ends.map(({ run }) => planOf(SEED, run))
    for (const { name, heavy } of FAULTS) {
      const met = plans.filter(({ fault }) => fault.name === name)
      expect(met.length, name).toBeGreaterThanOrEqual(Math.floor(RUNS / FAULTS.length / (heavy === true ? 2 : 1)) - 1)
      expect(new Set(met.map(({ adapter }) => adapter)).size, name).toBeGreaterThanOrEqual(4)
      expect(new Set(met.map(({ streamed }) => streamed)).size, name).toBe(2)
      expect(server.played.get(name), name).toBeGreaterThanOrEqual(met.length)
    }
    expect(new Set(plans.map(({ adapter }) => adapter)).size).toBe(WIRED.length)
  })

  it('every run ends with a result, or with an error that has a name', () => {
    for (const { run, end, message } of report.ends) {
      if (end !== 'completed') expect(Object.keys(ERROR_CODES), `run ${run}: ${message}`).toContain(end)
    }
  })

  it.each(FAULTS.map((fault) => [fault.name, fault] as const))('%s', (name, fault) => {
    const allowed = [...fault.codes, ...(fault.harmless === true || fault.mayPass === true ? ['completed'] : [])]
    for (const { run, end, message } of endsOf(name)) {
      const { adapter, streamed } = planOf(SEED, run)
      const who = `run ${run}, ${WIRED[adapter]?.protocol} ${streamed ? 'streamed' : 'plain'}: ${message}`
      expect(allowed, who).toContain(end)
    }
  })

  it('leaves no more on the heap than there was, and never holds 512 MB', () => {
    expect(report.heapAfter).toBeLessThan(report.heapBefore * 1.1)
    expect(report.peakRss).toBeLessThan(MOST_BYTES)
  })
})
