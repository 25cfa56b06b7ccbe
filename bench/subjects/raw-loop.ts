import { AsyncLocalStorage } from 'node:async_hooks'
import type OpenAI from 'openai'
import type { ResponseInput, Tool } from 'openai/resources/responses/responses'
import {
  approveInvoice,
  INVOICE_PARAMETERS,
  QUESTION,
  readInvoice,
  readVendor,
  SYSTEM,
  TOOL_TEXTS,
  VENDOR_PARAMETERS,
} from './desk.js'

const TOOLS: Tool[] = [
  tool('get_invoice', TOOL_TEXTS.get_invoice, INVOICE_PARAMETERS),
  tool('get_vendor', TOOL_TEXTS.get_vendor, VENDOR_PARAMETERS),
  tool('approve_invoice', TOOL_TEXTS.approve_invoice, INVOICE_PARAMETERS),
]

function tool(name: string, description: string, parameters: Record<string, unknown>): Tool {
  return { type: 'function', name, description, parameters, strict: true }
}

/** The floor of every ratio: the loop that one writes by hand on the official SDK, with no hook, no record, no check. */
export async function rawLoop(client: OpenAI, model: string): Promise<string> {
  const input: ResponseInput = [{ role: 'user', content: QUESTION }]
  for (;;) {
    const response = await client.responses.create({
      model,
      instructions: SYSTEM,
      input,
      tools: TOOLS,
      max_output_tokens: 8192,
      store: false,
    })
    let calls = 0
    for (const item of response.output) {
      input.push(item as ResponseInput[number])
      if (item.type !== 'function_call') continue
      calls += 1
    }
    if (calls === 0) return response.output_text
    for (const item of response.output) {
      if (item.type !== 'function_call') continue
      const result = handle(item.name, JSON.parse(item.arguments) as never)
      input.push({ type: 'function_call_output', call_id: item.call_id, output: JSON.stringify(result) })
    }
  }
}

function handle(name: string, args: never): object {
  if (name === 'get_invoice') return readInvoice(args)
  if (name === 'get_vendor') return readVendor(args)
  if (name === 'approve_invoice') return approveInvoice(args)
  throw new Error(`There is no tool "${name}".`)
}

const storage = new AsyncLocalStorage<object>()

/** On Node 20 a context costs every promise something; whoever serves requests there has one already. */
export const floorHasContext = Number(process.versions.node.split('.')[0]) < 24

/** The raw loop as it is measured: inside a context on Node versions where a context is not free. */
export function rawRun(client: OpenAI, model: string): Promise<string> {
  return floorHasContext ? storage.run({}, rawLoop, client, model) : rawLoop(client, model)
}
