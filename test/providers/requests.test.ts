import type { JsonObject, Message, ModelRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { BuiltInProtocol } from '@sluice/providers/behaviour'
import { PROTOCOL_BEHAVIOUR } from '@sluice/providers/behaviour'
import { describe, expect, it } from 'vitest'
import { never, request, WIRED } from './wire/adapters.js'
import { sentBody } from './wire/sent-body.js'
import { tool, recordTool, output, result, user, codeOf } from './wire/some-requests.js'

const EACH = WIRED.map((adapter) => [adapter.protocol, adapter] as const)
/** Those whose members have names that these tests know; the others have files of their own. */
const NAMED = EACH.filter(([, adapter]) => adapter.ownRequests !== true)

const CAPS = {
  'openai-responses': 'max_output_tokens',
  'openai-chat': 'max_completion_tokens',
  'anthropic-messages': 'max_tokens',
}

describe('every protocol', () => {
  it.each(NAMED)('%s: sends settings under its own names', async (protocol, adapter) => {
    const body = await sentBody(
      adapter,
      request({ tools: [tool], toolChoice: 'required', temperature: 0.5, topP: 0.9, maxOutputTokens: 777 }),
    )
    expect(body.model).toBe('test-model')
    expect(body.temperature).toBe(0.5)
    expect(body.top_p).toBe(0.9)
    expect(body[CAPS[protocol as keyof typeof CAPS]]).toBe(777)
    expect(body.tool_choice).toEqual(protocol === 'anthropic-messages' ? { type: 'any' } : 'required')
    expect(body.tools).toHaveLength(1)
  })

  it.each(NAMED)('%s: offers hosted tools as they were declared', async (_protocol, adapter) => {
    const configuration = { type: 'web_search', name: 'web_search', max_uses: 3 }
    const body = await sentBody(adapter, request({ tools: [tool], hostedTools: [{ code: 'search', configuration }] }))
    expect(body.tools.at(-1)).toEqual(configuration)
  })

  it.each(NAMED)('%s: G-6: refuses undeclared tools in raw options', async (protocol, adapter) => {
    const keys = {
      'openai-responses': ['tools', 'prompt'],
      'openai-chat': ['tools', 'functions', 'web_search_options'],
      'anthropic-messages': ['tools', 'mcp_servers'],
    }
    for (const key of keys[protocol as keyof typeof keys]) {
      const sending = sentBody(adapter, request({ providerOptions: { [key]: [{ type: 'web_search' }] } }))
      expect(await codeOf(sending)).toBe('HOSTED_TOOL_UNDECLARED')
    }
  })

  it.each(NAMED)('%s: refuses raw options that would change cap, history or state', async (protocol, adapter) => {
    const keys: Record<string, object> = {
      'openai-responses': {
        max_output_tokens: 9,
        store: true,
        previous_response_id: 'x',
        conversation: 'c',
        background: true,
        input: [],
        model: 'm',
      },
      'openai-chat': { max_tokens: 1, max_completion_tokens: 1, n: 2, store: true, messages: [] },
      'anthropic-messages': { max_tokens: 1, system: 's', messages: [], stream: true },
    }
    for (const [key, value] of Object.entries(keys[protocol] ?? {})) {
      expect(await codeOf(sentBody(adapter, request({ providerOptions: { [key]: value } }))), key).toBe(
        'INVALID_CONFIG',
      )
    }
  })

  it.each(NAMED)('%s: merges raw options last', async (protocol, adapter) => {
    const text: JsonObject =
      protocol === 'openai-responses' ? { text: { verbosity: 'low' } } : { output_config: { effort: 'low' } }
    const raw: JsonObject = { metadata: { a: 'b' }, temperature: null, ...text }
    const body = await sentBody(adapter, request({ temperature: 1, output, providerOptions: raw }))
    expect(body.metadata).toEqual({ a: 'b' })
    expect('temperature' in body).toBe(false)
    if (protocol === 'openai-responses')
      expect(body.text).toMatchObject({ verbosity: 'low', format: { type: 'json_schema' } })
    if (protocol === 'anthropic-messages')
      expect(body.output_config).toMatchObject({ effort: 'low', format: { type: 'json_schema' } })
  })

  it.each(EACH)(
    '%s: G-20: sends the files that its row names, refuses other media types by name',
    async (protocol, adapter) => {
      const file = (mediaType: string) => ({ type: 'file' as const, mediaType, data: 'AAAA', filename: 'a.bin' })
      const { files } = PROTOCOL_BEHAVIOUR[protocol as BuiltInProtocol]
      for (const mediaType of files.filter((type) => type !== 'text/plain')) {
        const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'See' }, file(mediaType)] }]
        expect(JSON.stringify(await sentBody(adapter, request({ messages })))).toContain('AAAA')
      }
      for (const mediaType of ['image/png', 'application/pdf', 'audio/wav'].filter((type) => !files.includes(type))) {
        const messages: Message[] = [{ role: 'user', content: [file(mediaType)] }]
        expect(await codeOf(sentBody(adapter, request({ messages })))).toBe('UNHANDLED_FORMAT')
      }
    },
  )

  it.each(EACH)('%s: G-20: refuses a file in a message of the model', async (_protocol, adapter) => {
    const messages: Message[] = [
      { role: 'assistant', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] },
      user('and?'),
    ]
    expect(await codeOf(sentBody(adapter, request({ messages })))).toBe('UNSUPPORTED_CONTENT')
  })

  it.each(EACH.filter(([, { lacks }]) => lacks?.includes('call ids') !== true))(
    '%s: CASE-16: writes ids and names of any origin in the form that it takes',
    async (_protocol, adapter) => {
      const ids = ['functions.find:0', 'call with space', 'x'.repeat(90)]
      const odd: Message[] = [
        user('go'),
        {
          role: 'assistant',
          content: ids.map((toolCallId) => ({
            type: 'tool_call' as const,
            toolCallId,
            toolName: 'no such\ntool',
            args: '',
          })),
        },
        { role: 'tool', content: [...ids].reverse().map((id) => result(id, `result of ${id}`)) },
      ]
      const text = JSON.stringify(await sentBody(adapter, request({ messages: odd })))
      for (const id of ids) expect(text).not.toContain(`"${id}"`)
      expect(text).toContain('no_such_tool')
      const wireIds = [
        ...text.matchAll(/"(?:call_id|tool_call_id|toolCallId|tool_use_id|id)":"(x_[A-Za-z0-9_-]{38})"/g),
      ].map((match) => match[1])
      expect(wireIds).toHaveLength(6)
      // each result stands with the id of its call
      const calls = wireIds.slice(0, 3)
      expect([calls, [...calls].reverse()]).toContainEqual(wireIds.slice(3))
      for (const [index, id] of ids.entries()) {
        const said = `result of ${id.slice(0, 10)}`
        // some protocols put the text of a result into an object of its own
        const inside = '[^{}]*(?:"(?:response|content)":\\[?\\{[^{}]*)?'
        expect(text).toMatch(new RegExp(`${said}[^{}]*${calls[index]}|${calls[index]}${inside}${said}`))
      }
    },
  )

  it.each(EACH)('%s: CASE-13: what another provider left in the history is not sent', async (_protocol, adapter) => {
    const messages: Message[] = [
      user('go'),
      {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: 'FOREIGN',
            providerOptions: { other: { signature: 'FOREIGN', member: 'reasoning', reasoning: { id: 'FOREIGN' } } },
          },
          { type: 'text', text: 'Said.', providerOptions: { other: { itemId: 'FOREIGN' } } },
          {
            type: 'hosted',
            toolName: 'search',
            text: 'FOREIGN',
            providerOptions: { other: { item: { type: 'FOREIGN' } } },
          },
          { type: 'refusal', text: 'No.' },
        ],
      },
      user('on'),
    ]
    const text = JSON.stringify(await sentBody(adapter, request({ messages })))
    expect(text).not.toContain('FOREIGN')
    expect(text).toContain('Said.')
    expect(text).toContain('No.')
  })

  it.each(NAMED)(
    '%s: the answer format is the strictest that it has, and a root that is no object is wrapped',
    async (protocol, adapter) => {
      const schemaOf = (body: any) =>
        body.text?.format.schema ?? body.response_format?.json_schema.schema ?? body.output_config?.format.schema
      const plain = schemaOf(await sentBody(adapter, request({ output })))
      expect(plain.additionalProperties).toBe(false)
      expect(plain.required).toEqual(protocol === 'anthropic-messages' ? ['yes'] : ['yes', 'why'])
      const list = { name: 'list', schema: { type: 'array', items: { type: 'string' } } }
      expect(schemaOf(await sentBody(adapter, request({ output: list }))).properties.value).toMatchObject({
        type: 'array',
      })
      const record = { name: 'bag', schema: { type: 'object', additionalProperties: { type: 'string' } } }
      expect(await codeOf(sentBody(adapter, request({ output: record })))).toBe('SCHEMA_UNSUPPORTED')
    },
  )

  it.each(NAMED)(
    '%s: CASE-17: checkSchema refuses with path and protocol what it cannot express',
    (protocol, adapter) => {
      const provider = adapter.make({ baseUrl: 'http://127.0.0.1:9' })
      provider.checkSchema?.(tool.inputSchema, 'tool')
      provider.checkSchema?.(recordTool.inputSchema, 'tool')
      provider.checkSchema?.(output.schema, 'output')
      for (const [schema, use, path] of [
        [
          {
            anyOf: [
              { type: 'object', properties: {} },
              { type: 'object', properties: {} },
            ],
          },
          'tool',
          '(root)',
        ],
        [recordTool.inputSchema, 'output', 'any'],
      ] as const) {
        let refused: unknown
        try {
          provider.checkSchema?.(schema, use)
        } catch (error) {
          refused = error
        }
        if (!SluiceError.isInstance(refused, 'SCHEMA_UNSUPPORTED')) throw refused
        expect(refused.message).toContain(protocol)
        expect(refused.message).toContain(path)
        expect(refused.details).toMatchObject({ protocol, faults: [expect.objectContaining({ path })] })
      }
    },
  )

  it.each(EACH)('%s: a choice among tools is left out where there are none', async (_protocol, adapter) => {
    const body = await sentBody(adapter, request({ toolChoice: 'auto' }))
    expect('tool_choice' in body || 'tools' in body).toBe(false)
  })

  it.each(EACH)('%s: a request is measured and sent from one translation', async (_protocol, adapter) => {
    const provider = adapter.make({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async () => new Response('{}', { status: 500 }),
    })
    let reads = 0
    const counted = request()
    const observed = new Proxy(counted, {
      get(target, key) {
        if (key === 'temperature') reads += 1
        return Reflect.get(target, key) as unknown
      },
    }) as ModelRequest
    provider.inputTokensAtMost?.(observed)
    const once = reads
    provider.inputTokensAtMost?.(observed)
    await provider.generate(observed, never()).catch(() => {})
    expect(once).toBeGreaterThan(0)
    expect(reads).toBe(once)
  })
})
