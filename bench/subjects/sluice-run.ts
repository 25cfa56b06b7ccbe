import type { ModelProvider, PluginInstance, Runtime, Store } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, defineTool } from '@sluice/core'
import { openai } from '@sluice/providers/openai'
import { z } from 'zod'
import { approveInvoice, QUESTION, readInvoice, readVendor, SYSTEM, TOOL_TEXTS } from './desk.js'
import { PARKED, SCENARIOS } from './scenarios.js'

const invoice = z.object({ invoice: z.string().describe('Number of the invoice') })
const vendor = z.object({ vendor: z.string().describe('Number or name of the vendor') })

const tools = [
  defineTool({
    code: 'get_invoice',
    description: TOOL_TEXTS.get_invoice,
    effect: 'read',
    input: invoice,
    handler: readInvoice,
  }),
  defineTool({
    code: 'get_vendor',
    description: TOOL_TEXTS.get_vendor,
    effect: 'read',
    input: vendor,
    handler: readVendor,
  }),
  defineTool({
    code: 'approve_invoice',
    description: TOOL_TEXTS.approve_invoice,
    effect: 'write',
    input: invoice,
    handler: approveInvoice,
  }),
]

const agents = [...SCENARIOS, PARKED].map((scenario) =>
  defineAgent({
    code: scenario.name,
    description: 'Answers questions about invoices.',
    model: `openai/${scenario.name}`,
    system: SYSTEM,
    user: '{question}',
    tools,
  }),
)

const nothing = (): void => undefined
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** A runtime as the figures are measured with: OpenAI adapter on the loopback server, receipts on, quiet logger. */
export function benchRuntime(
  baseUrl: string,
  plugins: readonly PluginInstance[],
  store: Store = createMemoryStore(),
  providers: readonly ModelProvider[] = [openai({ baseUrl, apiKey: 'bench' })],
): Promise<Runtime> {
  return createRuntime({
    store,
    agents,
    providers,
    plugins,
    logger: quiet,
    limits: { runsInFlight: 1024 },
  })
}

/** The same work as the raw loop does. */
export async function sluiceRun(runtime: Runtime, scenario: string): Promise<string> {
  const run = await runtime.execute({ agent: scenario, input: { question: QUESTION } })
  return run.text ?? ''
}
