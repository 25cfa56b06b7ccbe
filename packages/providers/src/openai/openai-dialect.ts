import type { OpenAIServerName } from '../behaviour/openai-servers.js'
import { OPENAI_SERVERS } from '../behaviour/openai-servers.js'

/**
 * What a server behind one of OpenAI's protocols understands: the row of the server that it behaves like. `compatible` is
 * everybody who has no row: nothing is sent there that only OpenAI knows.
 */
export type OpenAIDialect = OpenAIServerName

const NAMES = Object.keys(OPENAI_SERVERS) as OpenAIServerName[]

/** The dialect that a base URL speaks, where nobody says: OpenAI's own without one, and by host name. */
export function dialectOf(baseUrl: string | undefined): OpenAIDialect {
  if (baseUrl === undefined || baseUrl === '') return 'openai'
  if (!URL.canParse(baseUrl)) return 'compatible'
  const { hostname } = new URL(baseUrl)
  const known = NAMES.find((name) =>
    OPENAI_SERVERS[name].hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)),
  )
  return known ?? 'compatible'
}
