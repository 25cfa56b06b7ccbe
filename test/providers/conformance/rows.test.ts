// Each adapter does what its row of the table of behaviour says. One block of tests a row; a row without an adapter fails.
import { readFileSync } from 'node:fs'
import type { JsonObject, Message, ModelRequest } from '@sluice/core'
import type { ProtocolBehaviour } from '@sluice/providers/behaviour'
import { PROTOCOL_BEHAVIOUR } from '@sluice/providers/behaviour'
import { PROVIDER_ROWS } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { WiredAdapter } from '../wire/adapters.js'
import { request, WIRED } from '../wire/adapters.js'
import { errorOf, replyTo } from '../wire/memory.js'
import { sentBody } from '../wire/sent-body.js'
import { codeOf, result, tool, user } from '../wire/some-requests.js'

const ROWS = Object.values(PROTOCOL_BEHAVIOUR)

/** What stands at `a.b.c` of a body. */
const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce<any>((value, member) => value?.[member], body)

/** Where the answers are read from: the wire may hold the request in an envelope of its own. */
async function asked(adapter: WiredAdapter, changes: Partial<ModelRequest>): Promise<JsonObject> {
  const body = await sentBody(adapter, request(changes))
  return (body.chatRequest ?? body) as JsonObject
}

const made = (adapter: WiredAdapter) => adapter.make({ baseUrl: 'http://127.0.0.1:9' })
const adapterFor = (row: ProtocolBehaviour) => WIRED.find(({ protocol }) => protocol === row.protocol) as WiredAdapter

/** An object schema with one member. */
const objectOf = (schema: JsonObject, required = true): JsonObject => ({
  type: 'object',
  properties: { a: schema },
  required: required ? ['a'] : [],
  additionalProperties: false,
})
/** A schema for each keyword that the wire may or may not carry. */
const KEYWORDS: Readonly<Record<string, JsonObject>> = {
  pattern: { type: 'string', pattern: '^x' },
  minLength: { type: 'string', minLength: 3 },
  multipleOf: { type: 'number', multipleOf: 2 },
  minimum: { type: 'number', minimum: 1 },
  maximum: { type: 'number', maximum: 9 },
  exclusiveMinimum: { type: 'number', exclusiveMinimum: 1 },
  exclusiveMaximum: { type: 'number', exclusiveMaximum: 9 },
  minItems: { type: 'array', items: { type: 'string' }, minItems: 1 },
  maxItems: { type: 'array', items: { type: 'string' }, maxItems: 9 },
  uniqueItems: { type: 'array', items: { type: 'string' }, uniqueItems: true },
}

/** Every keyword of the schemas inside a value: not the names of properties. */
function keywordsOf(schema: unknown): Set<string> {
  const found = new Set<string>()
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [key, inner] of Object.entries(value)) {
      found.add(key)
      if (key === 'properties') Object.values(inner as object).forEach(walk)
      else walk(inner)
    }
  }
  walk(schema)
  return found
}

describe('the table', () => {
  it('has a row for every protocol that the testkit emulates, and says the same of it', () => {
    expect(Object.keys(PROTOCOL_BEHAVIOUR)).toEqual(Object.keys(PROVIDER_ROWS))
    for (const row of ROWS) {
      const emulated = PROVIDER_ROWS[row.protocol]
      expect(emulated.defaults, row.protocol).toEqual(row.defaults)
      for (const [reason, word] of Object.entries(emulated.finishReasons)) {
        // a stop beside tool calls is told by the calls
        const known = (row.finishReasons as Record<string, string>)[word as string] ?? word
        expect(known, `${row.protocol}: ${word}`).toBe(reason === 'tool_calls' && known === 'stop' ? 'stop' : reason)
      }
    }
  })

  it('names SDKs that are optional peers of the package, at a version that is tested', () => {
    const path = new URL('../../../packages/providers/package.json', import.meta.url)
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, any>
    const known = new Set(ROWS.flatMap(({ sdks }) => sdks.map((sdk) => sdk.package)))
    expect([...known, '@sluice/core'].sort()).toEqual(Object.keys(manifest.peerDependencies).sort())
    for (const { sdks, entry } of ROWS) {
      expect(manifest.exports[entry.replace('@sluice/providers', '.')]).toBeDefined()
      for (const sdk of sdks) {
        const version = sdk.range.replace('^', '')
        expect(manifest.peerDependencies[sdk.package]).toContain(`>=${version} `)
        expect(manifest.peerDependenciesMeta[sdk.package]).toEqual({ optional: true })
        expect(manifest.devDependencies[sdk.package]).toBe(version)
      }
    }
  })

  it('has an adapter for every row', () => {
    expect(WIRED.map(({ protocol }) => protocol).sort()).toEqual(Object.keys(PROTOCOL_BEHAVIOUR).sort())
  })
})

// cites: G-4, G-14, G-33, G-37, G-45, G-46, G-49, G-50, CASE-16, CASE-17
describe.each(ROWS.filter((row) => adapterFor(row) !== undefined).map((row) => [row.protocol, row] as const))(
  '%s',
  (_protocol, row) => {
    const adapter = adapterFor(row)
    const { schemas } = row

    it('has the id and the defaults of its row', () => {
      expect(made(adapter)).toMatchObject({ id: row.id, protocol: row.protocol, defaults: row.defaults })
    })

    it('G-14: reads its own words by its row, and one that stands nowhere as the row says', async () => {
      for (const [word, reason] of Object.entries(row.finishReasons)) {
        if (row.protocol === 'openai-responses' && word !== 'max_output_tokens') continue
        const reply = await replyTo(adapter, adapter.wire.whole({ text: 'x', finish: word }))
        expect(reply, word).toMatchObject({ finishReason: reason, rawFinishReason: word })
      }
      const unheard = await replyTo(adapter, adapter.wire.whole({ text: 'x', finish: 'UNHEARD_OF' }))
      expect(unheard).toMatchObject({
        finishReason: row.otherFinish === 'passed' ? 'UNHEARD_OF' : 'stop',
        rawFinishReason: 'UNHEARD_OF',
      })
    })

    it('G-14: a reply with calls and a word for stop ends in tool_calls', async () => {
      const calls = [{ id: 'c', name: 'find', args: '{}' }]
      const stops = Object.entries(row.finishReasons).filter(
        ([word, reason]) => reason === 'stop' && word !== 'completed',
      )
      for (const word of [undefined, ...stops.map(([word]) => word)]) {
        const finish = word === undefined ? {} : { finish: word }
        expect((await replyTo(adapter, adapter.wire.whole({ calls, ...finish }))).finishReason, word).toBe('tool_calls')
      }
    })

    it('carries the output cap in its member, and stop sequences in theirs or not at all', async () => {
      expect(at(await asked(adapter, { maxOutputTokens: 777 }), row.outputCap)).toBe(777)
      const stopping = asked(adapter, { stopSequences: ['END'] })
      if (row.stopSequences === null) expect(await codeOf(stopping)).toBe('INVALID_CONFIG')
      else expect(at(await stopping, row.stopSequences)).toEqual(['END'])
    })

    it('keeps no state at the provider', async () => {
      const body = await asked(adapter, {})
      if (row.stateOff === null) expect('store' in body).toBe(false)
      else expect(JSON.stringify(body)).toContain(row.stateOff.replace(/^(\w+): /, '"$1":'))
    })

    it('CASE-16: sends ids up to its bound as they are, longer ones as a digest', async () => {
      const bodyWith = async (id: string) => {
        const call = { type: 'tool_call' as const, toolCallId: id, toolName: 'find', args: '{"name":"x"}' }
        const messages: Message[] = [
          user('go'),
          { role: 'assistant', content: [call] },
          { role: 'tool', content: [result(id, 'found')] },
        ]
        return JSON.stringify(await asked(adapter, { tools: [tool], messages }))
      }
      const { longest } = row.callIds
      const fits = 'i'.repeat(longest ?? 8)
      expect((await bodyWith(fits)).split(`"${fits}"`).length > 2).toBe(longest !== null)
      expect(await bodyWith(`${fits}i`)).not.toContain(fits)
    })

    it('CASE-15: marks a result that failed with its flag, where it has one', async () => {
      const bodyOf = async (status: 'ok' | 'error') => {
        const call = { type: 'tool_call' as const, toolCallId: 'c1', toolName: 'find', args: '{"name":"x"}' }
        const messages: Message[] = [
          user('go'),
          { role: 'assistant', content: [call] },
          { role: 'tool', content: [result('c1', 'a text', status)] },
        ]
        return JSON.stringify(await asked(adapter, { tools: [tool], messages }))
      }
      expect((await bodyOf('ok')) === (await bodyOf('error'))).toBe(row.errorFlag === null)
      expect(await bodyOf('error')).toContain('a text')
    })

    it('bounds the tokens of an image as its row says', () => {
      const image = { type: 'file', mediaType: 'image/png', data: 'A'.repeat(400_000) } as const
      const most = made(adapter).inputTokensAtMost?.(request({ messages: [{ role: 'user', content: [image] }] }))
      if (row.imageTokensAtMost === null) expect(most).toBeNull()
      else expect(Number(most) - row.imageTokensAtMost).toBeLessThan(1000)
    })

    it('G-49, G-50: asks for reasoning in its form', async () => {
      const { form, member, budgets } = row.reasoning
      for (const level of ['low', 'medium', 'high'] as const) {
        const body = await asked(adapter, { reasoning: { level }, maxOutputTokens: 50_000 })
        const plain = await asked(adapter, { maxOutputTokens: 50_000 })
        if (form === 'none') expect(body).toEqual(plain)
        else expect(at(plain, member)).toBeUndefined()
        if (form === 'effort') expect(String(at(body, member)).toLowerCase()).toBe(level)
        if (form === 'switch') expect(at(body, member)).toBe(true)
        if (form === 'budget') expect(Object.values(at(body, member) as object)).toContain(budgets?.[level])
      }
    })

    it('takes tools that run at the provider, or refuses them by name', async () => {
      const configuration = { type: 'web_search', name: 'web_search' }
      const sending = asked(adapter, { tools: [tool], hostedTools: [{ code: 'search', configuration }] })
      if (row.hostedTools) expect(JSON.stringify(await sending)).toContain('web_search')
      else expect((await errorOf(sending)).code).toBe('INVALID_CONFIG')
    })

    it('CASE-17: puts an answer schema where its row says; the wire carries the keywords that stand there', async () => {
      const { output } = schemas
      const sending = (schema: JsonObject) => asked(adapter, { output: { name: 'answer', schema } })
      if (output === null) {
        expect(await codeOf(sending(objectOf({ type: 'string' })))).toBe('SCHEMA_UNSUPPORTED')
        return
      }
      for (const [keyword, schema] of Object.entries(KEYWORDS)) {
        const sent = at(await sending(objectOf(schema)), output)
        expect(sent, keyword).toBeDefined()
        const carried = schemas.constraints === null || schemas.constraints.includes(keyword)
        expect(keywordsOf(sent).has(keyword), keyword).toBe(carried)
      }
    })

    it('CASE-17: a key that may be absent is written as its row says', async () => {
      if (schemas.output === null) return
      const sent = at(
        await asked(adapter, { output: { name: 'answer', schema: objectOf({ type: 'string' }, false) } }),
        schemas.output,
      )
      const nullable = JSON.stringify(sent).includes('null')
      expect(nullable).toBe(schemas.optionalKeys === 'nullable')
    })

    it('CASE-17: a recursive answer is taken or refused when it is defined, as its row says', async () => {
      if (schemas.output === null) return
      const recursive: JsonObject = {
        type: 'object',
        properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
        required: ['next'],
        additionalProperties: false,
      }
      const checking = async () => made(adapter).checkSchema?.(recursive, 'output')
      expect(await codeOf(checking())).toBe(schemas.recursion ? undefined : 'SCHEMA_UNSUPPORTED')
    })
  },
)
