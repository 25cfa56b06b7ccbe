import type { PluginHost, Timer } from '@sluice/core'
import { definePlugin, getCaller, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { judgeRows } from './judge-rows.js'
import type { Place } from './judge-rows.js'
import { SharedRows } from './shared-rows.js'
import type { RowsRead } from './shared-rows.js'
import { createSwitchControl, prepareRows } from './switch-control.js'
import type { SwitchControl } from './switch-control.js'
import { forgetHostedTools, hostedToolsOf, noteHostedTools, noteRootAgent, rootAgent } from './switch-state.js'
import { isTargetName, MAX_NAME, rowKey } from './switch-row.js'

/** Before everything else, so that the answer of a switch that is on is that of the switch (B-5). */
const FIRST = Stage.identity - 100
/** How long the gate itself has beyond `timeoutMs`, in milliseconds. */
const GRACE_MS = 1_000

/** What the gates of the switch look at. */
interface Asked {
  readonly agentCode: string | null
  readonly tenant: string | null
  readonly createdBy: string | null
  /** The tool that is called, or the hosted ones that a request offers. */
  readonly tools?: readonly (string | null)[]
}

/** The facts of a context that rows are about. */
function factsOf({ agentCode, tenant, createdBy }: Asked): Asked {
  return { agentCode, tenant, createdBy }
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
      noteRootAgent(host, context.agentCode)
      await ask(factsOf(context))
    })
    hooks.beforeModelCall.tapPromise(options, async (context) => {
      const { effectId, hostedTools } = context
      noteHostedTools(host, effectId, hostedTools)
      await ask({ ...factsOf(context), tools: hostedTools.map(({ code }) => code) })
    })
    hooks.whileInFlight.tapPromise(options, (context) =>
      ask({ ...factsOf(context), tools: [context.toolCode, ...hostedToolsOf(host, context.effectId)] }),
    )
    hooks.afterModelCall.tap('kill-switch', ({ effectId }) => forgetHostedTools(host, effectId))
    hooks.beforeToolCall.tapPromise(options, (context) => ask({ ...factsOf(context), tools: [context.toolCode] }))
    await prepareRows(documents)
    return { api: createSwitchControl(documents, log) }
  },
})

function placesOf(asked: Asked, root: string | null): readonly Place[] {
  const places: Place[] = [{ kind: 'all', name: '' }]
  const add = (kind: Place['kind'], name: string | null | undefined): void => {
    if (typeof name !== 'string' || name === '') return
    // no store takes it as a key, and gates share their reads: it must not fail those of others
    if (!isTargetName(name)) throw unnameable(kind)
    places.push({ kind, name })
  }
  add('tenant', asked.tenant)
  // where the caller has no user, the service user stands for it in all records, so a row for that one counts
  add('user', getCaller()?.user ?? asked.createdBy)
  add('agent', asked.agentCode)
  if (root !== asked.agentCode) add('agent', root)
  for (const tool of asked.tools ?? []) add('tool', tool)
  return places
}

function unnameable(kind: Place['kind']): Veto {
  return new Veto(
    'KILL_SWITCH_UNREADABLE',
    `The ${kind} of this call has a name for which no row of the kill switch can stand: give it a well-formed one of at most ${MAX_NAME} characters.`,
    { target: kind },
  )
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
