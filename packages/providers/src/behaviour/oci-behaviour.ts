import { IMAGE_TYPES } from './file-types.js'
import type { ProtocolBehaviour } from './protocol-behaviour.js'

const SHARED = {
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
  finishReasons: {},
  schemas: {
    tools: 'written',
    output: null,
    outputForm: null,
    optionalKeys: 'absent',
    constraints: null,
    formats: null,
    recursion: true,
    bounds: { minItems: null, depth: null, properties: null, enumValues: null },
  },
  callIds: { given: true, pairedBy: 'id', longest: 64 },
  files: IMAGE_TYPES,
  reasoning: { member: 'reasoningEffort', form: 'effort', budgets: null, goesBack: null },
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
    output: null,
    outputForm: null,
    optionalKeys: 'absent',
    constraints: null,
    formats: null,
    recursion: false,
    bounds: { minItems: null, depth: 1, properties: null, enumValues: null },
  },
  callIds: { given: false, pairedBy: 'the call itself', longest: null },
  files: [],
  reasoning: { member: '', form: 'none', budgets: null, goesBack: null },
  outputCap: 'maxTokens',
  stopSequences: 'stopSequences',
  usage: 'no cache',
} as const satisfies ProtocolBehaviour
