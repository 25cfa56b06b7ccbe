import { IMAGE_TYPES } from './file-types.js'
import type { ProtocolBehaviour } from './protocol-behaviour.js'

export const OLLAMA_CHAT = {
  protocol: 'ollama-chat',
  title: 'Ollama chat',
  entry: '@sluice/providers/ollama',
  factory: 'ollama()',
  id: 'ollama',
  sdks: [{ package: 'ollama', range: '^0.6.4' }],
  environment: { apiKey: ['OLLAMA_API_KEY'], others: [] },
  defaults: { onToolError: 'throw', onToolLimit: 'throw' },
  finishReasons: { stop: 'stop', length: 'length', content_filter: 'content_filter' },
  otherFinish: 'stop',
  schemas: {
    tools: 'written',
    output: 'format',
    // the server makes a grammar of it, which can say less than a schema
    outputForm: 'strict',
    optionalKeys: 'absent',
    constraints: ['format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    formats: ['date', 'time', 'date-time', 'uuid'],
    recursion: true,
    bounds: { minItems: null, depth: null, properties: null, enumValues: null },
  },
  callIds: { given: false, pairedBy: 'name and order', longest: 64 },
  errorFlag: null,
  files: IMAGE_TYPES,
  imageTokensAtMost: null,
  reasoning: { member: 'think', form: 'switch', budgets: null, goesBack: 'thinking' },
  hostedTools: false,
  outputCap: 'options.num_predict',
  stopSequences: 'options.stop',
  stateOff: null,
  streams: 'NDJSON',
  usage: 'no cache',
} as const satisfies ProtocolBehaviour
