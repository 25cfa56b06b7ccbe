import { createMemoryStore, createRuntime, defineTool, SluiceError } from '@sluice/core'
import { serveExchanges } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { WiredAdapter } from './wire/adapters.js'
import { WIRED } from './wire/adapters.js'
import type { WireReply } from './wire/wire-reply.js'

const EACH = WIRED.map((adapter) => [adapter.protocol, adapter] as const)
const OPENAI = ['openai-responses', 'openai-chat']
const OCI = ['oci-generic', 'oci-cohere']
const ALL = [...OPENAI, 'anthropic-messages', ...OCI]
const ignore = () => {}
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}
const tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

/** What an author writes, what the model answers on the wire, what the author's code sees; and who refuses it as an answer. */
const ROWS: ReadonlyArray<{
  readonly what: string
  readonly schema: z.ZodObject
  readonly wire: object
  readonly seen: object
  readonly refusedBy?: readonly string[]
}> = [
  { what: 'optional, null', schema: z.object({ a: z.string().optional() }), wire: { a: null }, seen: {} },
  { what: 'optional, present', schema: z.object({ a: z.string().optional() }), wire: { a: 'x' }, seen: { a: 'x' } },
  { what: 'nullable', schema: z.object({ a: z.string().nullable() }), wire: { a: null }, seen: { a: null } },
  {
    what: 'nullable and optional',
    schema: z.object({ a: z.string().nullish() }),
    wire: { a: null },
    seen: { a: null },
  },
  { what: 'default', schema: z.object({ a: z.number().default(7) }), wire: { a: null }, seen: { a: 7 } },
  {
    what: 'nested',
    schema: z.object({ a: z.object({ b: z.string().optional() }) }),
    wire: { a: { b: null } },
    seen: { a: {} },
  },
  {
    what: 'in a list',
    schema: z.object({ a: z.array(z.object({ b: z.string().optional() })) }),
    wire: { a: [{ b: null }] },
    seen: { a: [{}] },
  },
  { what: 'union', schema: z.object({ a: z.union([z.string(), z.number()]) }), wire: { a: 3 }, seen: { a: 3 } },
  {
    what: 'union told apart by a key',
    schema: z.object({
      a: z.discriminatedUnion('k', [
        z.object({ k: z.literal('x'), b: z.string().optional() }),
        z.object({ k: z.literal('y') }),
      ]),
    }),
    wire: { a: { k: 'x', b: null } },
    seen: { a: { k: 'x' } },
  },
  { what: 'enum', schema: z.object({ a: z.enum(['p', 'q']).optional() }), wire: { a: null }, seen: {} },
  { what: 'literal', schema: z.object({ a: z.literal('p') }), wire: { a: 'p' }, seen: { a: 'p' } },
  {
    what: 'recursive',
    schema: z.object({ a: tree }),
    wire: { a: { name: 'n', children: [] } },
    seen: { a: { name: 'n', children: [] } },
    refusedBy: ['anthropic-messages', 'google-generate-content', 'oci-cohere'],
  },
  {
    what: 'record',
    schema: z.object({ a: z.record(z.string(), z.number()) }),
    wire: { a: { k: 1 } },
    seen: { a: { k: 1 } },
    refusedBy: ALL,
  },
  {
    what: 'tuple',
    schema: z.object({ a: z.tuple([z.string(), z.number()]) }),
    wire: { a: ['x', 1] },
    seen: { a: ['x', 1] },
    refusedBy: ALL,
  },
]

async function withRuntime(
  adapter: WiredAdapter,
  replies: readonly WireReply[],
  run: (runtime: Awaited<ReturnType<typeof createRuntime>>, model: string, bodies: () => any[]) => Promise<void>,
): Promise<void> {
  const server = await serveExchanges(replies.map((reply) => adapter.wire.whole(reply)))
  const provider = adapter.make({ baseUrl: server.url })
  const runtime = await createRuntime({
    store: createMemoryStore(),
    providers: [provider],
    plugins: [],
    logger: SILENT,
  })
  try {
    await run(runtime, `${provider.id}/test-model`, () =>
      server.requests.map(({ body }) => JSON.parse(body) as unknown),
    )
  } finally {
    await runtime.close()
    await server.close()
  }
}

const healthy = Array.from({ length: 9 }, (_, index) =>
  defineTool({
    code: `healthy_${index}`,
    description: 'Healthy.',
    effect: 'read',
    input: z.object({ q: z.string(), n: z.number().optional() }),
    handler: () => 'ok',
  }),
)

describe.each(EACH)('%s', (protocol, adapter) => {
  it.each(ROWS.map((row) => [row.what, row] as const))(
    'CASE-17: a tool with %s goes beside nine healthy ones, and its handler sees the author’s types',
    async (_what, { schema, wire, seen }) => {
      const got: unknown[] = []
      const probe = defineTool({
        code: 'probe',
        description: 'Probes.',
        effect: 'read',
        input: schema,
        handler: (args) => (got.push(args), 'ok'),
      })
      const replies = [{ calls: [{ id: 'c1', name: 'probe', args: JSON.stringify(wire) }] }, { text: 'done' }]
      await withRuntime(adapter, replies, async (runtime, model, bodies) => {
        await runtime.generateText({ model, prompt: 'go', tools: [...healthy, probe] })
        const [body] = bodies()
        const tools = (body.chatRequest ?? body).tools.flatMap((tool: any) => tool.functionDeclarations ?? [tool])
        expect(tools).toHaveLength(10)
        expect(tools.map((tool: any) => tool.strict ?? tool.function?.strict).slice(0, 9)).toEqual(
          Array(9).fill(OPENAI.includes(protocol) ? true : undefined),
        )
      })
      expect(got).toEqual([seen])
    },
  )

  it.each(ROWS.map((row) => [row.what, row] as const))(
    'CASE-17: an answer with %s is validated back to the author’s types, or refused with path and protocol',
    async (_what, { schema, wire, seen, refusedBy }) => {
      await withRuntime(adapter, [{ text: JSON.stringify(wire) }], async (runtime, model, bodies) => {
        const work = runtime.generateText({ model, prompt: 'go', output: schema })
        if (refusedBy?.includes(protocol) !== true) {
          expect((await work).output).toEqual(seen)
          return
        }
        const refused = await work.then(
          () => undefined,
          (error: unknown) => error,
        )
        if (!SluiceError.isInstance(refused, 'SCHEMA_UNSUPPORTED')) throw refused ?? new Error('not refused')
        expect(refused.message).toContain(protocol)
        expect(refused.message).toMatch(/\ba\b|\(root\)/)
        expect(bodies()).toEqual([])
      })
    },
  )

  it('CASE-17: an answer whose root is a union or a list comes back as it was asked for', async () => {
    const wrapped = adapter.lacks?.includes('wrapped answers') !== true
    for (const [schema, value] of [
      [z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), { b: 2 }],
      [z.array(z.string()), ['x', 'y']],
      [z.enum(['yes', 'no']), 'yes'],
    ] as const) {
      await withRuntime(adapter, [{ text: JSON.stringify(wrapped ? { value } : value) }], async (runtime, model) => {
        expect((await runtime.generateText({ model, prompt: 'go', output: schema })).output).toEqual(value)
      })
    }
  })

  it('CASE-17, G-48: a constraint that the wire does not carry is enforced on the reply', async () => {
    await withRuntime(adapter, [{ text: '{"a":"x"}' }], async (runtime, model) => {
      const work = runtime.generateText({ model, prompt: 'go', output: z.object({ a: z.string().min(5) }) })
      await expect(work).rejects.toMatchObject({ code: 'OUTPUT_INVALID' })
    })
  })
})
