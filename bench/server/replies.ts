import { INVOICE_PARAMETERS, TOOL_TEXTS, VENDOR_PARAMETERS } from '../subjects/desk.js'
import type { Scenario } from '../subjects/scenarios.js'

const CALLS = [
  { name: 'get_invoice', arguments: '{"invoice":"4711"}' },
  { name: 'get_vendor', arguments: '{"vendor":"Hartmann Office Supplies"}' },
] as const

const ANSWER = [
  'Invoice 4711 of Hartmann Office Supplies agrees with purchase order PO-88213: 120 reams of paper and nine toners,',
  '1284.50 euro in all. The vendor is not blocked and the invoice is open and not paid yet, so it can be paid by the due',
  'date, 13 April 2026. I looked at the invoice, the purchase order and the master data of the vendor.',
].join(' ')

/** The headers of an answer, besides those that Node adds: names and lengths as the provider documents them. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'openai-organization': 'example-organization',
  'openai-processing-ms': '812',
  'openai-project': 'proj_0000000000000000000000',
  'openai-version': '2020-10-01',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-limit-tokens': '2000000',
  'x-ratelimit-remaining-requests': '9999',
  'x-ratelimit-remaining-tokens': '1999214',
  'x-ratelimit-reset-requests': '6ms',
  'x-ratelimit-reset-tokens': '23ms',
  'x-request-id': 'req_00000000000000000000000000000000',
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  'x-content-type-options': 'nosniff',
}

/** The replies of one scenario by round: those that ask for tools, and the answer at the end. */
export function repliesOf(scenario: Scenario): readonly Buffer[] {
  const rounds = Array.from({ length: scenario.rounds }, (_, round) =>
    response(
      scenario.name,
      round,
      Array.from({ length: scenario.callsPerRound }, (_, call) => functionCall(round, call)),
    ),
  )
  return [...rounds, response(scenario.name, scenario.rounds, [message(scenario.rounds)])].map((body) =>
    Buffer.from(JSON.stringify(body)),
  )
}

function functionCall(round: number, call: number): object {
  const number = `${String(round).padStart(4, '0')}${String(call).padStart(4, '0')}`
  return {
    id: `fc_0000000000000000000000000000000000000000${number}`,
    type: 'function_call',
    status: 'completed',
    call_id: `call_0000000000000000${number}`,
    ...CALLS[(round + call) % CALLS.length],
  }
}

function message(round: number): object {
  return {
    id: `msg_00000000000000000000000000000000000000000000${String(round).padStart(4, '0')}`,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', annotations: [], logprobs: [], text: ANSWER }],
  }
}

/** Every member that the Responses API documents for an answer. */
function response(model: string, round: number, output: readonly object[]): object {
  return {
    id: `resp_0000000000000000000000000000000000000000000${String(round).padStart(4, '0')}`,
    object: 'response',
    created_at: 1_780_000_000,
    status: 'completed',
    background: false,
    completed_at: 1_780_000_001,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: 8192,
    max_tool_calls: null,
    model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [
      echoed('get_invoice', INVOICE_PARAMETERS),
      echoed('get_vendor', VENDOR_PARAMETERS),
      echoed('approve_invoice', INVOICE_PARAMETERS),
    ],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: {
      input_tokens: 612 + 80 * round,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 74,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 686 + 80 * round,
    },
    user: null,
    metadata: {},
  }
}

function echoed(name: keyof typeof TOOL_TEXTS, parameters: object): object {
  return { type: 'function', name, description: TOOL_TEXTS[name], parameters, strict: true }
}
