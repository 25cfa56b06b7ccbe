import type { Message, ModelRequest } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { describe, expect, it } from 'vitest'
import { never, request } from './wire/adapters.js'
import { adapterOf, sentBody } from './wire/sent-body.js'
import { output, called, result, user, codeOf } from './wire/some-requests.js'

const ANTHROPIC = adapterOf('anthropic-messages')

describe('anthropic-messages', () => {
  it('CASE-13: system text apart, turns of one side joined, results first in their turn, calls last', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'One' },
      user('go'),
      { role: 'assistant', content: [...(called('c1').content as any), { type: 'text', text: 'I look.' }] },
      { role: 'tool', content: [result('c1', 'done')] },
      user('and?'),
      { role: 'system', content: 'Two' },
    ]
    const body = await sentBody(ANTHROPIC, request({ messages }))
    expect(body.system).toEqual([
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ])
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'find', input: { name: 'x' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'done' },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })

  it('CASE-15: the protocol’s error flag is set for every result but ok and refused, never without content', async () => {
    const statuses = ['ok', 'refused', 'error', 'invalid', 'vetoed', 'skipped_limit', 'not_run', 'unknown'] as const
    const messages: Message[] = [
      {
        role: 'assistant',
        content: statuses.map((status) => ({
          type: 'tool_call' as const,
          toolCallId: status,
          toolName: 'find',
          args: '{}',
        })),
      },
      { role: 'tool', content: statuses.map((status) => ({ ...result(status, ''), status })) },
    ]
    const blocks = (await sentBody(ANTHROPIC, request({ messages }))).messages[1].content as any[]
    expect(blocks.filter((block) => block.is_error === true).map((block) => block.tool_use_id)).toEqual(
      statuses.slice(2),
    )
    for (const block of blocks) expect(block.is_error === true ? block.content : 'fine').not.toBe('')
  })

  it('CASE-14: arguments that are no object are shown to the model as it wrote them', async () => {
    const messages: Message[] = [
      called('a', '{"name":'),
      { role: 'tool', content: [result('a', 'not JSON', 'error')] },
      called('b', ''),
      { role: 'tool', content: [result('b', 'x')] },
    ]
    const body = await sentBody(ANTHROPIC, request({ messages }))
    expect(body.messages[0].content[0].input).toEqual({ invalid_json: '{"name":' })
    expect(body.messages[2].content[0].input).toEqual({})
  })

  it('texts without a visible character, and messages without content, are left out: the provider refuses them', async () => {
    const messages: Message[] = [
      user('go'),
      { role: 'assistant', content: [{ type: 'text', text: ' \n' }] },
      { role: 'assistant', content: [] },
      user('on'),
    ]
    expect((await sentBody(ANTHROPIC, request({ messages }))).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'go' },
          { type: 'text', text: 'on' },
        ],
      },
    ])
  })

  it('thinking goes back exactly, redacted or signed; without a signature it stays here', async () => {
    const messages: Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'T', providerOptions: { anthropic: { signature: 'S' } } },
          { type: 'reasoning', text: '', providerOptions: { anthropic: { redacted: 'D' } } },
          { type: 'reasoning', text: 'cut off' },
          { type: 'text', text: 'So.' },
        ],
      },
      user('on'),
    ]
    expect((await sentBody(ANTHROPIC, request({ messages }))).messages[0].content).toEqual([
      { type: 'thinking', thinking: 'T', signature: 'S' },
      { type: 'redacted_thinking', data: 'D' },
      { type: 'text', text: 'So.' },
    ])
  })

  it('G-50, G-51: levels are budgets, an explicit budget wins, and one that is not below the cap is refused', async () => {
    const thinking = async (reasoning: ModelRequest['reasoning'], maxOutputTokens: number) =>
      (await sentBody(ANTHROPIC, request({ ...(reasoning === undefined ? {} : { reasoning }), maxOutputTokens })))
        .thinking
    expect(await thinking({ level: 'low' }, 8192)).toEqual({ type: 'enabled', budget_tokens: 2048 })
    expect(await thinking({ level: 'medium' }, 8193)).toEqual({ type: 'enabled', budget_tokens: 8192 })
    expect(await thinking({ level: 'high' }, 40_000)).toEqual({ type: 'enabled', budget_tokens: 32_768 })
    expect(await thinking({ level: 'high', budgetTokens: 1024 }, 8192)).toEqual({
      type: 'enabled',
      budget_tokens: 1024,
    })
    expect(await thinking({}, 8192)).toBeUndefined()
    expect(await codeOf(thinking({ level: 'medium' }, 8192))).toBe('REASONING_BUDGET_TOO_LARGE')
    expect(await codeOf(thinking({ budgetTokens: 500 }, 500))).toBe('REASONING_BUDGET_TOO_LARGE')
  })

  it('G-49: a raw thinking setting wins over the neutral one, and `adaptive` leaves the amount to the model', async () => {
    const raw = await sentBody(
      ANTHROPIC,
      request({ reasoning: { level: 'high' }, providerOptions: { thinking: { type: 'disabled' } } }),
    )
    expect(raw.thinking).toEqual({ type: 'disabled' })
    let body: any
    const adaptive = anthropic({
      apiKey: 'sk-0123456789',
      thinking: 'adaptive',
      fetch: async (_url, init) => {
        body = JSON.parse(String(init?.body))
        return Response.json(ANTHROPIC.wire.whole({ text: 'ok' }).body)
      },
    })
    await adaptive.generate(request({ reasoning: { level: 'medium', summary: 'auto' }, output }), never())
    expect(body.thinking).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(body.output_config).toMatchObject({ effort: 'medium', format: { type: 'json_schema' } })
  })

  it('carries the caller’s cache breakpoints and document settings', async () => {
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          {
            type: 'file',
            mediaType: 'text/plain',
            data: Buffer.from('Grüße').toString('base64'),
            filename: 'a.txt',
            providerOptions: { anthropic: { citations: { enabled: true }, source: 'no' } },
          },
          {
            type: 'text',
            text: 'Read.',
            providerOptions: { anthropic: { cache_control: { type: 'ephemeral' }, type: 'no' } },
          },
        ],
      },
    ]
    expect((await sentBody(ANTHROPIC, request({ messages }))).messages[0].content).toEqual([
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
        title: 'a.txt',
        citations: { enabled: true },
      },
      { type: 'text', text: 'Read.', cache_control: { type: 'ephemeral' } },
    ])
  })

  it('bounds images by their kind, text files by their bytes, and has no bound for a PDF', () => {
    const provider = ANTHROPIC.make({ baseUrl: 'http://127.0.0.1:9' })
    const bound = (mediaType: string, data: string) =>
      provider.inputTokensAtMost?.(
        request({ messages: [{ role: 'user', content: [{ type: 'file', mediaType, data }] }] }),
      )
    const big = 'A'.repeat(400_000)
    expect(bound('image/png', big)).toBeLessThan(6000)
    expect(bound('text/plain', big)).toBeGreaterThan(300_000)
    expect(bound('application/pdf', 'AAAA')).toBeNull()
    expect(bound('audio/wav', 'AAAA')).toBeNull()
  })
})
