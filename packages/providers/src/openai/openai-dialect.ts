/**
 * What a server behind one of OpenAI's protocols understands. `openai`: OpenAI itself and Azure. `compatible`: everybody
 * else; the output cap is called `max_tokens` there, and members that only OpenAI knows are left out.
 */
export type OpenAIDialect = 'openai' | 'compatible'

const OPENAI_HOSTS = ['openai.com', 'openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com']

/** The dialect that a base URL speaks, where nobody says: OpenAI's own without one, and by host name. */
export function dialectOf(baseUrl: string | undefined): OpenAIDialect {
  if (baseUrl === undefined || baseUrl === '') return 'openai'
  if (!URL.canParse(baseUrl)) return 'compatible'
  const { hostname } = new URL(baseUrl)
  return OPENAI_HOSTS.some((host) => hostname === host || hostname.endsWith(`.${host}`)) ? 'openai' : 'compatible'
}
