import { IMAGE_TYPES, PDF_TYPE } from './file-types.js'
import type { ProtocolBehaviour, SchemaBehaviour } from './protocol-behaviour.js'

/** Values of `format` that strict modes carry. */
export const STRICT_FORMATS: readonly string[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]

/**
 * OpenAI's strict mode, the same for both of its protocols.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
const STRICT = {
  tools: 'strict',
  outputForm: 'strict',
  optionalKeys: 'nullable',
  constraints: [
    'pattern',
    'format',
    'multipleOf',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'minItems',
    'maxItems',
  ],
  formats: STRICT_FORMATS,
  recursion: true,
  bounds: { minItems: null, depth: 10, properties: 5000, enumValues: 1000 },
} as const satisfies Partial<SchemaBehaviour>

const SHARED = {
  otherFinish: 'passed',
  entry: '@sluice/providers/openai',
  id: 'openai',
  sdks: [{ package: 'openai', range: '^6.49.0' }],
  environment: { apiKey: ['OPENAI_API_KEY'], others: ['OPENAI_BASE_URL'] },
  errorFlag: null,
  files: [...IMAGE_TYPES, PDF_TYPE],
  /**
   * The dearest published rule (gpt-4o-mini, high detail: 2 833 and 5 667 for each of at most 8 tiles) gives 48 169. PDF
   * files have no such bound: their text counts, and their pages.
   * @see https://platform.openai.com/docs/guides/images-vision#calculating-costs
   */
  imageTokensAtMost: 50_000,
  hostedTools: true,
  stateOff: 'store: false',
  streams: 'SSE',
  usage: 'cached inside input',
} as const satisfies Partial<ProtocolBehaviour>

export const OPENAI_RESPONSES = {
  ...SHARED,
  protocol: 'openai-responses',
  title: 'OpenAI Responses',
  factory: 'openai()',
  defaults: { onToolError: 'throw', onToolLimit: 'finish' },
  finishReasons: { completed: 'stop', incomplete: 'length', max_output_tokens: 'length' },
  schemas: { ...STRICT, output: 'text.format' },
  callIds: { given: true, pairedBy: 'id', longest: 64 },
  reasoning: { member: 'reasoning.effort', form: 'effort', budgets: null, goesBack: 'encrypted_content of its item' },
  outputCap: 'max_output_tokens',
  stopSequences: null,
} as const satisfies ProtocolBehaviour

export const OPENAI_CHAT = {
  ...SHARED,
  protocol: 'openai-chat',
  title: 'OpenAI Chat Completions',
  factory: "openai({ protocol: 'openai-chat' })",
  defaults: { onToolError: 'throw', onToolLimit: 'throw' },
  // the words of other vendors come from the models behind OpenRouter
  finishReasons: {
    stop: 'stop',
    function_call: 'stop',
    length: 'length',
    max_tokens: 'length',
    max_output_tokens: 'length',
    MAX_TOKENS: 'length',
  },
  schemas: { ...STRICT, output: 'response_format' },
  callIds: { given: true, pairedBy: 'id', longest: 40 },
  reasoning: {
    member: 'reasoning_effort',
    form: 'effort',
    budgets: null,
    goesBack: 'reasoning_content or reasoning, reasoning_details',
  },
  outputCap: 'max_completion_tokens',
  stopSequences: 'stop',
} as const satisfies ProtocolBehaviour
