import { IMAGE_TYPES, PDF_TYPE } from './file-types.js'
import { STRICT_FORMATS } from './openai-behaviour.js'
import type { ProtocolBehaviour } from './protocol-behaviour.js'

/** @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs for the schemas */
export const ANTHROPIC_MESSAGES = {
  protocol: 'anthropic-messages',
  title: 'Anthropic Messages',
  entry: '@sluice/providers/anthropic',
  factory: 'anthropic()',
  id: 'anthropic',
  sdks: [{ package: '@anthropic-ai/sdk', range: '^1.14.0' }],
  environment: { apiKey: ['ANTHROPIC_API_KEY'], others: ['ANTHROPIC_BASE_URL'] },
  defaults: { onToolError: 'throw', onToolLimit: 'throw' },
  finishReasons: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
  },
  otherFinish: 'passed',
  schemas: {
    tools: 'written',
    output: 'output_config.format',
    outputForm: 'strict',
    optionalKeys: 'absent',
    constraints: ['format', 'minItems'],
    formats: [...STRICT_FORMATS, 'uri'],
    recursion: false,
    bounds: { minItems: 1, depth: 100, properties: 5000, enumValues: 5000 },
  },
  callIds: { given: true, pairedBy: 'id', longest: 64 },
  errorFlag: 'is_error: true',
  files: [...IMAGE_TYPES, PDF_TYPE, 'text/plain'],
  /**
   * An image is scaled down before it is counted, to about 4 784 tokens on the models with the highest resolution. PDF
   * files have no such bound: their text counts, and their pages.
   * @see https://platform.claude.com/docs/en/build-with-claude/vision
   */
  imageTokensAtMost: 5000,
  reasoning: {
    member: 'thinking',
    form: 'budget',
    budgets: { low: 2048, medium: 8192, high: 32_768 },
    goesBack: 'thinking with its signature, redacted_thinking',
  },
  hostedTools: true,
  outputCap: 'max_tokens',
  stopSequences: 'stop_sequences',
  stateOff: null,
  streams: 'SSE',
  usage: 'classes disjoint',
} as const satisfies ProtocolBehaviour
