import type { ModelRequest } from '@sluice/core'
import type { WiredAdapter } from './adapters.js'
import { never, WIRED } from './adapters.js'

/** The body that an adapter sends for a request, without a server. */
export async function sentBody(
  adapter: WiredAdapter,
  request: ModelRequest,
  id?: string,
): Promise<Record<string, any>> {
  let body = ''
  const provider = adapter.make({
    baseUrl: 'http://127.0.0.1:9',
    ...(id === undefined ? {} : { id }),
    fetch: async (_url, init) => {
      body = String(init?.body)
      const { status, headers, body: answer } = adapter.wire.whole({ text: 'ok' })
      return new Response(JSON.stringify(answer), { status, headers })
    },
  })
  await provider.generate(request, never())
  return JSON.parse(body) as Record<string, any>
}

/** The adapter of one protocol. */
export function adapterOf(protocol: string): WiredAdapter {
  return WIRED.find((adapter) => adapter.protocol === protocol) as WiredAdapter
}
