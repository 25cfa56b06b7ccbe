// The shipped streams of every protocol whose adapter is here: read to their ends, and gone on with.
import type { Message, ModelProvider, ModelReply, StreamPart } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { oci } from '@sluice/providers/oci'
import { ollama } from '@sluice/providers/ollama'
import { openai } from '@sluice/providers/openai'
import type { FixtureProtocol } from '@sluice/testkit'
import { FIXTURE_PROTOCOLS, replay } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { SIGNING_KEY } from './recorded/signing-key.js'
import { never, request } from './wire/adapters.js'
import { result, user } from './wire/some-requests.js'

const signed = { auth: SIGNING_KEY, compartmentId: 'ocid1.compartment.oc1..example', region: 'us-chicago-1' }
const MAKE: Readonly<Record<FixtureProtocol, (apiKey: string) => ModelProvider>> = {
  'openai-responses': (apiKey) => openai({ apiKey, baseUrl: 'https://api.openai.com/v1' }),
  'openai-chat': (apiKey) => openai({ apiKey, protocol: 'openai-chat', baseUrl: 'https://api.openai.com/v1' }),
  'anthropic-messages': (apiKey) => anthropic({ apiKey, baseUrl: 'https://api.anthropic.com' }),
  'google-generate-content': (apiKey) => google({ apiKey }),
  'ollama-chat': () => ollama(),
  'oci-generic': () => oci({ ...signed, protocol: 'oci-generic' }),
  'oci-cohere': () => oci({ ...signed, protocol: 'oci-cohere' }),
}

async function streamed(provider: ModelProvider, messages: readonly Message[]) {
  const parts: StreamPart[] = []
  for await (const part of provider.stream(request({ messages }), never())) parts.push(part)
  const last = parts.pop()
  if (last?.type !== 'reply') throw new Error('the stream did not end with its reply')
  const text = parts.map((part) => (part.type === 'text_delta' ? part.text : '')).join('')
  return { reply: last.reply, text }
}

const callsOf = ({ parts }: ModelReply) => parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))

describe('shipped streams', () => {
  it.each(FIXTURE_PROTOCOLS)('%s: a text and a call, then the answer to its result', async (protocol) => {
    const wire = replay(`${protocol}/stream`)
    try {
      const provider = MAKE[protocol](wire.apiKey)
      const first = await streamed(provider, [user('What is with INV-1002?')])
      expect(first.text).toBe('I will look it up.')
      expect(first.reply.finishReason).toBe('tool_calls')
      const [call, ...others] = callsOf(first.reply)
      expect(others).toEqual([])
      expect([call?.toolName, JSON.parse(call?.args ?? '')]).toEqual(['ap_get_invoice', { invoice: 'INV-1002' }])
      const found = { ...result(call?.toolCallId ?? '', 'open'), toolName: 'ap_get_invoice' }
      const second = await streamed(provider, [
        user('What is with INV-1002?'),
        { role: 'assistant', content: first.reply.parts, provider: provider.id },
        { role: 'tool', content: [found] },
      ])
      expect(second.text).toBe('Invoice INV-1002 is open: 1250.00 €.')
      expect(second.reply.finishReason).toBe('stop')
      expect(second.reply.usage.unreportedCalls).toBe(0)
      wire.done()
    } finally {
      wire.restore()
    }
  })
})
