import type { ModelProvider, ModelRequest } from '@sluice/core'
import { openai } from '@sluice/providers/openai'
import OpenAI from 'openai'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { runInFlight } from '../measure/in-flight.js'
import { interleave } from '../measure/interleave.js'
import type { Side } from '../measure/interleave.js'
import type { LoopbackServer } from '../server/start-server.js'
import { INVOICE_PARAMETERS, QUESTION, SYSTEM, TOOL_TEXTS, VENDOR_PARAMETERS } from '../subjects/desk.js'
import { rawRun } from '../subjects/raw-loop.js'
import { benchRuntime, sluiceRun } from '../subjects/sluice-run.js'
import type { SuiteOptions } from './suite-options.js'

const RUNS_A_SLICE = 120
const MODEL = '0-rounds'

/**
 * Where the CPU time of a run without tool calls goes, against the raw loop: `adapter` sends the request with the adapter and
 * nothing else; `core-alone` is a run whose provider answers at once, without a network; `adapter-then-core` does the one and
 * then the other, so that code and data of the run are cold, as they are behind a real request.
 */
export async function splitSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const names = ['split/adapter', 'split/core-alone', 'split/adapter-then-core'].filter((name) => options.wants(name))
  if (names.length === 0) return []
  options.progress('split')
  const client = new OpenAI({ apiKey: 'bench', baseURL: server.baseUrl })
  const adapter = openai({ baseUrl: server.baseUrl, apiKey: 'bench' })
  const runtime = await benchRuntime(server.baseUrl, [], undefined, [atOnce(adapter)])
  const send = () => adapter.generate(REQUEST, new AbortController().signal)
  const run = () => sluiceRun(runtime, MODEL)
  const work: Readonly<Record<string, () => Promise<unknown>>> = {
    raw: () => rawRun(client, MODEL),
    again: () => rawRun(client, MODEL),
    'split/adapter': send,
    'split/core-alone': run,
    'split/adapter-then-core': async () => {
      await send()
      return run()
    },
  }
  const sides: Side[] = ['raw', 'again', ...names].map((name) => ({ name, slice: () => cpuOf(work[name] ?? run) }))
  const collect = (): void => globalThis.gc?.({ type: 'minor' })
  await interleave(sides, options.warmUps, collect)
  const samples = await interleave(sides, options.slices, collect)
  await runtime.close()
  const of = (name: string): readonly number[] => samples.get(name) ?? []
  return names.map((name) =>
    ratioFigure(name, 'us of CPU a run', { subject: of(name), floor: of('raw'), again: of('again') }),
  )
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await runInFlight(RUNS_A_SLICE, 1, work)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / RUNS_A_SLICE
}

/** Says what the server says, without asking it. */
function atOnce(adapter: ModelProvider): ModelProvider {
  return {
    id: adapter.id,
    protocol: adapter.protocol,
    defaults: adapter.defaults,
    generate: async () => ({
      parts: [{ type: 'text', text: 'Invoice 4711 agrees with purchase order PO-88213 and can be paid.' }],
      finishReason: 'stop',
      usage: {
        inputTokens: 612,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 74,
        reasoningTokens: 0,
        unreportedCalls: 0,
      },
      model: MODEL,
    }),
    stream: () => {
      throw new Error('Nothing is streamed here.')
    },
  }
}

const offered = (name: keyof typeof TOOL_TEXTS, inputSchema: ModelRequest['tools'][number]['inputSchema']) => ({
  name,
  description: TOOL_TEXTS[name],
  inputSchema,
})

/** The request that such a run sends. */
const REQUEST: ModelRequest = {
  model: MODEL,
  messages: [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: [{ type: 'text', text: QUESTION }] },
  ],
  tools: [
    offered('get_invoice', INVOICE_PARAMETERS),
    offered('get_vendor', VENDOR_PARAMETERS),
    offered('approve_invoice', INVOICE_PARAMETERS),
  ],
  hostedTools: [],
  maxOutputTokens: 8192,
}
