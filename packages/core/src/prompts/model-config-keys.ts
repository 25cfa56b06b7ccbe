/** What a key of a model configuration takes. */
export type ConfigKind = 'text' | 'boolean' | 'number' | 'texts' | 'object'

/** Keys that a configuration may have at its root (P-20), beside the sections of the providers. */
export const ROOT_KEYS: Readonly<Record<string, ConfigKind>> = Object.freeze({
  g_base_url: 'text',
  g_enable_reasoning: 'boolean',
  g_reasoning_level: 'text',
  g_enable_tools: 'boolean',
  g_max_tool_calls: 'number',
  g_tool_tags: 'texts',
  g_apex_web_credential: 'text',
  response_schema: 'object',
})

const CREDENTIAL = { g_apex_web_credential: 'text' } as const

/** Keys of the sections of the known providers (P-21). A section of any other provider is taken as it is. */
export const SECTION_KEYS: Readonly<Record<string, Readonly<Record<string, ConfigKind>>>> = Object.freeze({
  openai: { ...CREDENTIAL, g_reasoning_effort: 'text', g_use_responses_api: 'boolean' },
  anthropic: { ...CREDENTIAL, g_max_tokens: 'number', g_reasoning_budget_tokens: 'number' },
  google: {
    ...CREDENTIAL,
    g_reasoning_budget: 'number',
    g_embedding_task_type: 'text',
    g_embedding_output_dimensions: 'number',
  },
  ollama: { ...CREDENTIAL, g_use_responses_api: 'boolean' },
  xai: { ...CREDENTIAL, g_reasoning_effort: 'text' },
  openrouter: { ...CREDENTIAL, g_reasoning_effort: 'text' },
  oci: {
    ...CREDENTIAL,
    g_compartment_id: 'text',
    g_serving_type: 'text',
    g_region: 'text',
    g_use_responses_api: 'boolean',
  },
})

/** True where the value is what the key takes. */
export function fitsKind(value: unknown, kind: ConfigKind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'texts':
      return typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value)
  }
}

/** The section in which a key belongs that stands at the root; `undefined` where none knows it. */
export function sectionOf(key: string, providerId: string): string | undefined {
  const own = SECTION_KEYS[providerId]
  if (own !== undefined && Object.hasOwn(own, key)) return providerId
  return Object.keys(SECTION_KEYS).find((section) => Object.hasOwn(SECTION_KEYS[section] as object, key))
}
