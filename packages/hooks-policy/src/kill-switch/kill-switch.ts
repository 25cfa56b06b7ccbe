import type { HostedToolInfo, PluginHost, Timer } from '@sluice/core'
import { definePlugin, getCaller, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { judgeRows } from './judge-rows.js'
import type { Place } from './judge-rows.js'
import { SharedRows } from './shared-rows.js'
import type { RowsRead } from './shared-rows.js'
import { createSwitchControl, prepareRows } from './switch-control.js'
import type { SwitchControl } from './switch-control.js'
import { rowKey } from './switch-row.js'

/** Before everything else, so that the answer of a switch that is on is that of the switch (B-5). */
const FIRST = Stage.identity - 100
/** How long the gate itself has beyond `timeoutMs`, in milliseconds. */
const GRACE_MS = 1_000
const NO_TOOLS: readonly HostedToolInfo[] = Object.freeze([])

/** What the gates of the switch look at. */
interface Asked {
  readonly agentCode: string | null
  readonly tenant: string | null
  readonly toolCode?: string | null
  readonly hostedTools?: readonly HostedToolInfo[]
}

/**
 * A switch that an operator sets while the application runs: for everything, one agent, one tool (hosted ones too), one user
 * or one tenant, with who, why and until when. It is read before a run, each request to a model and each tool call, and again
 * every `watchMs` of the runtime while one of these is open; an answer comes from a read that began after the gate was asked.
 * A switch that cannot be read stops with a code of its own.
 *
 * A row for an agent also stops the runs below those that were started with that agent.
 */
export const killSwitch = definePlugin({
  name: 'hooks-policy/kill-switch',
  hookApi: 1,
  options: z.strictObject({
    /** How long a gate tries to read the rows, in milliseconds. */
    timeoutMs: z.number().int().min(1).max(600_000).default(4_000),
    /** How long one read of the rows may take before it is tried again, in milliseconds. */
    readTimeoutMs: z.number().int().min(1).max(600_000).default(1_000),
    /** The pause before a read that failed is tried again, in milliseconds. */
    retryMs: z.number().int().min(1).max(600_000).default(50),
  }),
  async apply(hooks, host): Promise<{ api: SwitchControl }> {
    const { documents, log } = host.storage
    const { timeoutMs, readTimeoutMs } = host.options
    const shared = new SharedRows(documents, host.clock, Math.min(readTimeoutMs, timeoutMs))
    const options = { name: 'kill-switch', stage: FIRST, timeoutMs: timeoutMs + GRACE_MS }
    const ask = async (asked: Asked): Promise<void> => {
      const places = placesOf(asked, rootAgent(host))
      judgeRows(places, await readInTime(host, shared, places))
    }
    hooks.beforeExecution.tapPromise(options, async (context) => {
      host.run?.state.update(() => ({ agent: context.agentCode }))
      await ask(context)
    })
    hooks.beforeModelCall.tapPromise(options, ask)
    hooks.whileInFlight.tapPromise(options, ask)
    hooks.beforeToolCall.tapPromise(options, ask)
    await prepareRows(documents)
    return { api: createSwitchControl(documents, log) }
  },
})

function placesOf(asked: Asked, root: string | null): readonly Place[] {
  const places: Place[] = [{ kind: 'all', name: '' }]
  const add = (kind: Place['kind'], name: string | null | undefined): void => {
    if (typeof name === 'string' && name !== '') places.push({ kind, name })
  }
  add('tenant', asked.tenant)
  add('user', getCaller()?.user)
  add('agent', asked.agentCode)
  if (root !== asked.agentCode) add('agent', root)
  add('tool', asked.toolCode)
  for (const { code } of asked.hostedTools ?? NO_TOOLS) add('tool', code)
  return places
}

/** Code of the agent that the tree was started with. */
function rootAgent(host: Pick<PluginHost, 'run'>): string | null {
  const state = host.run?.state.get()
  const agent = state !== null && typeof state === 'object' && 'agent' in state ? state.agent : null
  return typeof agent === 'string' ? agent : null
}

type SwitchHost = PluginHost<{ readonly timeoutMs: number; readonly retryMs: number }>

/** Reads until it succeeds or the time is over, which is a veto of its own. */
async function readInTime(host: SwitchHost, shared: SharedRows, places: readonly Place[]): Promise<RowsRead> {
  const { clock } = host
  const { timeoutMs, retryMs } = host.options
  const keys = places.map(({ kind, name }) => rowKey(kind, name))
  const until = clock.monotonic() + timeoutMs
  let timer: Timer | undefined
  let again: Timer | undefined
  let over = false
  const deadline = new Promise<undefined>((resolve) => {
    timer = clock.setTimeout(() => {
      over = true
      resolve(undefined)
    }, timeoutMs)
  })
  let cause: unknown
  try {
    while (!over && clock.monotonic() < until) {
      try {
        const rows = await Promise.race([shared.read(keys), deadline])
        if (rows !== undefined) return rows
      } catch (error) {
        cause = error
        await Promise.race([
          new Promise((resolve) => {
            again = clock.setTimeout(() => resolve(undefined), retryMs)
          }),
          deadline,
        ])
      }
    }
  } finally {
    timer?.cancel()
    again?.cancel()
  }
  host.logger.error({ timeoutMs, error: describe(cause) }, 'the kill switch could not be read')
  throw new Veto(
    'KILL_SWITCH_UNREADABLE',
    `The kill switch could not be read within ${timeoutMs} ms: look at the store.`,
    {
      timeoutMs,
    },
  )
}

function describe(error: unknown): string | null {
  return error === undefined ? null : error instanceof Error ? error.message : String(error)
}
