import { IMAGE_TYPES, PDF_TYPE } from './file-types.js'
import type { ProtocolBehaviour } from './protocol-behaviour.js'

const SHARED = {
  otherFinish: 'passed',
  entry: '@sluice/providers/oci',
  id: 'oci',
  sdks: [
    { package: 'oci-common', range: '^2.142.0' },
    { package: 'oci-generativeaiinference', range: '^2.142.0' },
  ],
  environment: { apiKey: [], others: ['OCI_CONFIG_FILE', 'OCI_CONFIG_PROFILE', 'OCI_COMPARTMENT_ID', 'OCI_REGION'] },
  defaults: { onToolError: 'return', onToolLimit: 'throw' },
  errorFlag: null,
  imageTokensAtMost: null,
  hostedTools: false,
  stateOff: null,
  streams: 'SSE',
} as const satisfies Partial<ProtocolBehaviour>

export const OCI_GENERIC = {
  ...SHARED,
  protocol: 'oci-generic',
  title: 'OCI Generative AI, generic',
  factory: 'oci()',
  // each vendor behind it has words of its own
  finishReasons: {
    stop: 'stop',
    STOP: 'stop',
    COMPLETE: 'stop',
    length: 'length',
    LENGTH: 'length',
    max_tokens: 'length',
    MAX_TOKENS: 'length',
    tool_calls: 'tool_calls',
    TOOL_CALLS: 'tool_calls',
    content_filter: 'content_filter',
    CONTENT_FILTER: 'content_filter',
    SAFETY: 'content_filter',
  },
  schemas: {
    tools: 'written',
    output: 'responseFormat',
    outputForm: 'strict',
    optionalKeys: 'nullable',
    constraints: ['pattern', 'format', 'minimum', 'maximum', 'minItems', 'maxItems'],
    formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
    recursion: true,
    bounds: { minItems: null, depth: null, properties: null, enumValues: null },
  },
  callIds: { given: true, pairedBy: 'id', longest: 64 },
  files: [...IMAGE_TYPES, PDF_TYPE],
  reasoning: { member: 'reasoningEffort', form: 'effort', budgets: null, goesBack: 'reasoningContent' },
  outputCap: 'maxTokens',
  stopSequences: 'stop',
  usage: 'cached inside input',
} as const satisfies ProtocolBehaviour

export const OCI_COHERE = {
  ...SHARED,
  protocol: 'oci-cohere',
  title: 'OCI Generative AI, Cohere',
  factory: "oci({ protocol: 'oci-cohere' })",
  finishReasons: { COMPLETE: 'stop', MAX_TOKENS: 'length', ERROR_LIMIT: 'length', ERROR_TOXIC: 'content_filter' },
  schemas: {
    tools: 'written',
    output: 'responseFormat',
    outputForm: 'strict',
    optionalKeys: 'absent',
    constraints: ['pattern', 'format'],
    formats: ['date-time', 'time', 'date', 'uuid'],
    recursion: false,
    bounds: { minItems: null, depth: null, properties: null, enumValues: null },
  },
  callIds: { given: false, pairedBy: 'the call itself', longest: null },
  files: [],
  reasoning: { member: '', form: 'none', budgets: null, goesBack: null },
  outputCap: 'maxTokens',
  stopSequences: 'stopSequences',
  usage: 'cached inside input',
} as const satisfies ProtocolBehaviour
