import type { JsonObject, Message, ModelRequest } from '@sluice/core'
import { google } from '@sluice/providers/google'
import { describe, expect, it } from 'vitest'
import { never, request } from './wire/adapters.js'
import { adapterOf, sentBody } from './wire/sent-body.js'
import { called, codeOf, output, recordTool, result, tool, user } from './wire/some-requests.js'

const GOOGLE = adapterOf('google-generate-content')

/** The body and the address that an adapter of these options sends. */
async function sentBy(options: Parameters<typeof google>[0], changes: Partial<ModelRequest>, streamed = false) {
  let sent: { url: string; body: any } | undefined
  const provider = google({
    apiKey: 'key-0123456789',
    ...options,
    fetch: async (url, init) => {
      sent = { url: String(url), body: JSON.parse(String(init?.body)) }
      const { body, bodyText, headers } = GOOGLE.wire[streamed ? 'stream' : 'whole']({ text: 'ok' })
      return new Response(bodyText ?? JSON.stringify(body), { headers })
    },
  })
  if (streamed) for await (const _part of provider.stream(request(changes), never()));
  else await provider.generate(request(changes), never())
  if (sent === undefined) throw new Error('nothing was sent')
  return sent
}

describe('google-generate-content', () => {
  it('names the model in the path, and asks for a stream by it; the body is the same', async () => {
    const plain = await sentBy({ baseUrl: 'http://127.0.0.1:9/proxy' }, { model: 'gemini-x' })
    const stream = await sentBy({}, { model: 'tunedModels/mine' }, true)
    expect(plain.url).toBe('http://127.0.0.1:9/proxy/v1beta/models/gemini-x:generateContent')
    expect(stream.url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/tunedModels/mine:streamGenerateContent?alt=sse',
    )
    expect(stream.body).toEqual(plain.body)
  })

  it('sends settings under its own names', async () => {
    const body = await sentBody(
      GOOGLE,
      request({
        messages: [{ role: 'system', content: 'Be brief.' }, user('go'), { role: 'system', content: 'In German.' }],
        tools: [tool],
        toolChoice: 'required',
        temperature: 0.5,
        topP: 0.9,
        stopSequences: ['END'],
        maxOutputTokens: 777,
      }),
    )
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'go' }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'In German.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'find', description: 'Finds.', parametersJsonSchema: { ...tool.inputSchema } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: { maxOutputTokens: 777, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
    })
  })

  it('says which tool is chosen', async () => {
    const choice = async (toolChoice: ModelRequest['toolChoice']) =>
      (await sentBody(GOOGLE, request({ tools: [tool], ...(toolChoice === undefined ? {} : { toolChoice }) })))
        .toolConfig?.functionCallingConfig
    expect(await choice('auto')).toEqual({ mode: 'AUTO' })
    expect(await choice('none')).toEqual({ mode: 'NONE' })
    expect(await choice({ tool: 'find' })).toEqual({ mode: 'ANY', allowedFunctionNames: ['find'] })
    expect(await choice(undefined)).toBeUndefined()
  })

  it('offers hosted tools as they were declared, each in an entry of its own', async () => {
    const hostedTools: ModelRequest['hostedTools'] = [
      { code: 'search', configuration: { googleSearch: {} } },
      { code: 'code', configuration: { codeExecution: {} } },
      { code: 'urls', configuration: { urlContext: {} } },
    ]
    const alone = await sentBody(GOOGLE, request({ hostedTools, toolChoice: 'auto' }))
    expect(alone.tools).toEqual([{ googleSearch: {} }, { codeExecution: {} }, { urlContext: {} }])
    expect('toolConfig' in alone).toBe(false)
    const both = await sentBody(GOOGLE, request({ tools: [tool], hostedTools }))
    expect(both.tools).toHaveLength(4)
    expect(both.tools[0].functionDeclarations).toHaveLength(1)
  })

  it('G-6: refuses undeclared tools in raw options', async () => {
    for (const tools of [[{ googleSearch: {} }], null, {}]) {
      expect(await codeOf(sentBody(GOOGLE, request({ providerOptions: { tools } })))).toBe('HOSTED_TOOL_UNDECLARED')
    }
  })

  it('refuses raw options that would change cap or history, in both spellings', async () => {
    const owned: readonly JsonObject[] = [
      { contents: [] },
      { systemInstruction: {} },
      { system_instruction: {} },
      { model: 'm' },
      { generationConfig: { maxOutputTokens: 9 } },
      { generationConfig: { max_output_tokens: 9 } },
      { generation_config: { max_output_tokens: 9 } },
      { generation_config: { maxOutputTokens: null } },
      { generationConfig: { candidateCount: 2 } },
      { generation_config: { candidate_count: 2 } },
    ]
    for (const providerOptions of owned) {
      expect(await codeOf(sentBody(GOOGLE, request({ providerOptions }))), JSON.stringify(providerOptions)).toBe(
        'INVALID_CONFIG',
      )
    }
  })

  it('merges raw options last, and never loses the output cap', async () => {
    const providerOptions = {
      cached_content: 'cachedContents/1',
      safetySettings: [{ category: 'X', threshold: 'Y' }],
      labels: { my_team: 'a' },
      generationConfig: { temperature: null, top_k: 3, candidateCount: 1, responseMimeType: 'text/x.enum' },
    }
    const body = await sentBody(GOOGLE, request({ temperature: 1, topP: 0.5, output, providerOptions }))
    expect(body).toMatchObject({
      cachedContent: 'cachedContents/1',
      safetySettings: [{ category: 'X', threshold: 'Y' }],
      labels: { my_team: 'a' },
      generationConfig: { maxOutputTokens: 500, topP: 0.5, topK: 3, responseMimeType: 'text/x.enum' },
    })
    for (const none of [null, 'x', [1]]) {
      const kept = await sentBody(GOOGLE, request({ providerOptions: { generation_config: none } }))
      expect(kept.generationConfig).toEqual({ maxOutputTokens: 500 })
    }
  })

  it('CASE-15: a result that failed stands under `error`, never empty; refusals are results', async () => {
    const statuses = ['ok', 'refused', 'error', 'invalid', 'vetoed', 'skipped_limit', 'not_run', 'unknown'] as const
    const messages: Message[] = [
      {
        role: 'assistant',
        content: statuses.map((status) => ({ type: 'tool_call', toolCallId: status, toolName: 'find', args: '{}' })),
      },
      { role: 'tool', content: statuses.map((status) => ({ ...result(status, ''), status })) },
      { role: 'tool', content: [result('more', 'Text.'), result('most', 'Failed.', 'error')] },
    ]
    const { contents } = await sentBody(GOOGLE, request({ messages }))
    const responses = contents[1].parts.map((part: any) => part.functionResponse)
    expect(responses.slice(0, 2).map((each: any) => each.response)).toEqual([{ output: '' }, { output: '' }])
    for (const { id, name, response } of responses.slice(2)) {
      expect([id, name]).toEqual([expect.any(String), 'find'])
      expect(response).toEqual({ error: 'The tool failed.' })
    }
    expect(contents[2].parts.map((part: any) => part.functionResponse.response)).toEqual([
      { output: 'Text.' },
      { error: 'Failed.' },
    ])
  })

  it('CASE-14: arguments that are no object are shown to the model as it wrote them', async () => {
    const messages = [called('a', '{"name":'), { role: 'tool', content: [result('a', 'x')] }, called('b', '')] as const
    const { contents } = await sentBody(GOOGLE, request({ messages }))
    expect(contents[0].parts[0].functionCall).toEqual({ id: 'a', name: 'find', args: { invalid_json: '{"name":' } })
    expect(contents[2].parts[0].functionCall.args).toEqual({})
  })

  it('texts and messages with nothing in them are left out: the provider refuses them', async () => {
    const messages: Message[] = [
      { role: 'system', content: '' },
      user(''),
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      { role: 'assistant', content: [] },
      user('on'),
    ]
    expect(await sentBody(GOOGLE, request({ messages }))).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'on' }] }],
      generationConfig: { maxOutputTokens: 500 },
    })
  })

  it('G-20: sends files as they are, with what the caller says of them, and names those that lie at the provider', async () => {
    const own = { mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' }, other: 1 }
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'application/pdf', data: 'AAAA', filename: 'a.pdf' },
          { type: 'file', mediaType: 'image/png', data: 'BBBB', providerOptions: { google: own } },
          { type: 'file', mediaType: 'video/mp4', data: '', providerOptions: { google: { fileUri: 'files/1' } } },
        ],
      },
    ]
    expect((await sentBody(GOOGLE, request({ messages }))).contents[0].parts).toEqual([
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
      { inlineData: { mimeType: 'image/png', data: 'BBBB' }, mediaResolution: own.mediaResolution },
      { fileData: { fileUri: 'files/1', mimeType: 'video/mp4' } },
    ])
  })

  it('has no bound for the tokens of a file, whose number grows with it, and of what lies cached there', () => {
    const provider = GOOGLE.make({ baseUrl: 'http://127.0.0.1:9' })
    const bound = (mediaType: string) =>
      provider.inputTokensAtMost?.(
        request({ messages: [{ role: 'user', content: [{ type: 'file', mediaType, data: 'AAAA' }] }] }),
      )
    for (const mediaType of ['image/png', 'application/pdf', 'audio/wav']) expect(bound(mediaType)).toBeNull()
    expect(provider.inputTokensAtMost?.(request())).toBeGreaterThan(50)
    for (const name of ['cachedContent', 'cached_content']) {
      const providerOptions = { [name]: 'cachedContents/1' }
      expect(provider.inputTokensAtMost?.(request({ providerOptions }))).toBeNull()
    }
  })

  it('the body that goes out has the length that was measured, to the byte', async () => {
    let sent = ''
    const provider = google({
      apiKey: 'key-0123456789',
      fetch: async (_url, init) => {
        sent = String(init?.body)
        return Response.json(GOOGLE.wire.whole({ text: 'ok' }).body)
      },
    })
    const big = request({
      messages: [
        { role: 'system', content: 'Größe 🌊' },
        user('go'),
        called('c1'),
        { role: 'tool', content: [result('c1', 'ä')] },
      ],
      tools: [tool, recordTool],
      output,
      providerOptions: { labels: { a: 'ü' } },
    })
    const most = provider.inputTokensAtMost?.(big)
    await provider.generate(big, never())
    expect(Buffer.byteLength(sent)).toBe(most)
    for await (const _part of provider.stream(big, never()));
    expect(Buffer.byteLength(sent)).toBe(most)
  })

  it('asks for the strictest answer that it has', async () => {
    const { generationConfig } = await sentBody(GOOGLE, request({ output }))
    expect(generationConfig).toEqual({
      maxOutputTokens: 500,
      responseMimeType: 'application/json',
      responseJsonSchema: {
        type: 'object',
        properties: { yes: { type: 'boolean' }, why: { type: 'string' } },
        required: ['yes'],
        additionalProperties: false,
      },
    })
    const open = { name: 'bag', schema: recordTool.inputSchema }
    expect(await codeOf(sentBody(GOOGLE, request({ output: open })))).toBe('SCHEMA_UNSUPPORTED')
  })

  it('G-50: levels are budgets, or the levels of newer models; a budget that is given wins', async () => {
    const thinking = async (reasoning: ModelRequest['reasoning'], form: 'budget' | 'level' = 'budget') =>
      (await sentBy({ thinking: form }, reasoning === undefined ? {} : { reasoning })).body.generationConfig
        .thinkingConfig
    expect(await thinking({ level: 'low' })).toEqual({ thinkingBudget: 2048 })
    expect(await thinking({ level: 'medium' })).toEqual({ thinkingBudget: 8192 })
    expect(await thinking({ level: 'high', summary: 'auto' })).toEqual({
      includeThoughts: true,
      thinkingBudget: 32_768,
    })
    expect(await thinking({ level: 'high' }, 'level')).toEqual({ thinkingLevel: 'HIGH' })
    expect(await thinking({ level: 'high', budgetTokens: 0 }, 'level')).toEqual({ thinkingBudget: 0 })
    expect(await thinking({ budgetTokens: -1 })).toEqual({ thinkingBudget: -1 })
    expect(await thinking({})).toBeUndefined()
    expect(await thinking(undefined)).toBeUndefined()
  })

  it('G-49: a raw setting wins over the neutral one', async () => {
    const providerOptions = { generationConfig: { thinkingConfig: { thinkingBudget: 5 } } }
    const body = await sentBody(GOOGLE, request({ reasoning: { level: 'high' }, providerOptions }))
    expect(body.generationConfig.thinkingConfig).toEqual({ thinkingBudget: 5 })
  })

  it('CASE-13: calls that another model made are marked for models that ask for signatures, those of its own are not', async () => {
    const signed: Message = {
      role: 'assistant',
      content: [
        {
          type: 'tool_call',
          toolCallId: 'a',
          toolName: 'find',
          args: '{}',
          providerOptions: { google: { thoughtSignature: 'S' } },
        },
        { type: 'tool_call', toolCallId: 'b', toolName: 'find', args: '{}' },
      ],
    }
    const messages = [user('go'), called('x'), signed]
    const marks = async (thinking: 'budget' | 'level') =>
      (await sentBy({ thinking }, { messages })).body.contents
        .flatMap(({ parts }: any) => parts)
        .filter((part: any) => part.functionCall !== undefined)
        .map((part: any) => part.thoughtSignature)
    expect(await marks('level')).toEqual(['skip_thought_signature_validator', 'S', undefined])
    expect(await marks('budget')).toEqual([undefined, 'S', undefined])
  })
})
