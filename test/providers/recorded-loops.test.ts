import type { Message, ModelRequest, ToolDefinition } from '@sluice/core'
import { createMemoryStore, createRuntime, defineTool } from '@sluice/core'
import type { ExchangeServer, RecordedExchange } from '@sluice/testkit'
import { serveExchanges } from '@sluice/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdapterUnderTest } from './recorded/adapters.js'
import { ADAPTERS } from './recorded/adapters.js'
import { reconcile } from './recorded/difference.js'
import { DIFFERENCES } from './recorded/differences.js'
import { exchangesOf, isFailure, requestOf } from './recorded/exchanges.js'
import type { Raw } from './recorded/raw-json.js'
import { hasRecordings } from './recorded/recordings-folder.js'

/** Conversations in which the client did more than run the tools, or ran them otherwise than we do. */
const NOT_OURS: Readonly<Record<string, string>> = {
  'anthropic/tool-error-is-error.json':
    'what our model reads of a failing handler is the sanitised text with its reference',
  'google/tool-error-retry.json': 'what our model reads of a failing handler is the sanitised text with its reference',
  'openai-responses/tool-output-final-result.json': 'ends in a further call',
  'anthropic/structured-output-tool.json': 'ends in a further call',
  'uc-ai/openai-chat/tool-calls.json': 'ends in a further call',
  'uc-ai/xai/tool-calls.json': 'ends in a further call',
  'openrouter/tool-args-with-spaces.json': 'ends in a further call',
}

interface Conversation {
  readonly file: string
  readonly exchanges: readonly RecordedExchange[]
  readonly requests: readonly ModelRequest[]
}

/** Recorded conversations that one call of `generateText` makes: plain, each request what the last one was and its results. */
function conversationsOf(adapter: AdapterUnderTest): readonly Conversation[] {
  const files = new Map<string, RecordedExchange[]>()
  for (const { file, exchange } of exchangesOf(adapter)) files.set(file, [...(files.get(file) ?? []), exchange])
  return [...files].flatMap(([file, exchanges]) => {
    const plain = exchanges.every(
      (each) => each.response.bodyText === undefined && each.request.body !== null && !isFailure(each),
    )
    if (exchanges.length < 2 || !plain || NOT_OURS[file] !== undefined) return []
    const id = adapter.make({ url: 'http://127.0.0.1:9' }, exchanges[0]?.request.url ?? '').id
    const requests = exchanges.map((each) => requestOf(adapter, id, each))
    return requests.every((request, index) => index === 0 || goesOn(requests[index - 1] as ModelRequest, request))
      ? [{ file, exchanges, requests }]
      : []
  })
}

/** True where `after` is `before`, a reply with calls, and their results. */
function goesOn(before: ModelRequest, after: ModelRequest): boolean {
  const added = after.messages.slice(before.messages.length)
  const same =
    JSON.stringify(texts(after.messages.slice(0, before.messages.length))) === JSON.stringify(texts(before.messages))
  return same && added.length === 2 && added[0]?.role === 'assistant' && added[1]?.role === 'tool'
}

function texts(messages: readonly Message[]): unknown {
  return messages.map(({ role, content }) => [
    role,
    typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : part.type)),
  ])
}

/** The recorded tools, each of whose handlers gives the recorded results in their order. */
function toolsOf({ requests }: Conversation): readonly ToolDefinition[] {
  const results = (requests.at(-1) as ModelRequest).messages.flatMap((message) =>
    message.role === 'tool' ? message.content : [],
  )
  return (requests[0] as ModelRequest).tools.map(({ name, description, inputSchema }) => {
    const own = results.filter((result) => result.toolName === name).map((result) => result.result)
    return defineTool({
      code: name,
      description: description === '' ? name : description,
      effect: 'read',
      input: inputSchema as never,
      handler: () => own.shift() ?? 'no more results',
    }) as ToolDefinition
  })
}

describe.skipIf(!hasRecordings)('recorded conversations through the loop', () => {
  let server: ExchangeServer
  beforeAll(async () => {
    server = await serveExchanges()
  })
  afterAll(() => server.close())

  it('leaves out only conversations that there are', () => {
    const files = new Set(ADAPTERS.flatMap(exchangesOf).map(({ file }) => file))
    expect(Object.keys(NOT_OURS).filter((file) => !files.has(file))).toEqual([])
  })

  describe.each(ADAPTERS.map((adapter) => [adapter.name, adapter] as const))('%s', (name, adapter) => {
    const conversations = conversationsOf(adapter)

    it.each(conversations.map((each) => [each.file, each] as const))(
      'generateText goes through %s as recorded',
      async (file, conversation) => {
        const { exchanges, requests } = conversation
        const [first] = requests as [ModelRequest]
        const provider = adapter.make({ url: server.url }, exchanges[0]?.request.url ?? '')
        const runtime = await createRuntime({
          store: createMemoryStore(),
          providers: [provider],
          plugins: [],
          logger: SILENT,
        })
        const before = server.requests.length
        for (const { response } of exchanges) server.answer(response)
        const { toolChoice, temperature, reasoning, providerOptions, maxOutputTokens, output } = first
        const generated = await runtime.generateText({
          model: `${provider.id}/${first.model}`,
          messages: first.messages,
          tools: toolsOf(conversation),
          maxOutputTokens,
          ...(toolChoice === undefined ? {} : { toolChoice }),
          ...(temperature === undefined ? {} : { temperature }),
          ...(reasoning === undefined ? {} : { reasoning }),
          ...(providerOptions === undefined ? {} : { providerOptions }),
          ...(output === undefined ? {} : { output: output.schema as never }),
        })
        await runtime.close()
        const sent = server.requests.slice(before).map(({ body }) => JSON.parse(body) as Raw)
        expect(sent).toHaveLength(exchanges.length)
        for (const [index, ours] of sent.entries()) {
          const recorded = structuredClone(exchanges[index]?.request.body) as Raw
          const pair = { name: `${file.replace('.json', '')}#${index}`, recorded, ours }
          reconcile(pair, [...DIFFERENCES[adapter.name], ...LOOP_DIFFERENCES], new Set())
          expect(pair.ours).toEqual(pair.recorded)
        }
        expect(generated.messages.length).toBe((requests.at(-1) as ModelRequest).messages.length + 1)
      },
    )

    it('has conversations to go through', () => {
      console.log(`${name}: ${conversations.length} conversations through the loop`)
      expect(conversations.length).toBeGreaterThanOrEqual(adapter.floor.conversations)
    })
  })
})

/** What a tool definition and an answer schema need and the recorded request did not have. */
const LOOP_DIFFERENCES = [
  {
    what: 'descriptions and names',
    reason: 'A tool of ours must be described, and an answer format has the name of its schema.',
    apply({ recorded, ours }: { recorded: Raw; ours: Raw }) {
      for (const body of [recorded, ours]) {
        for (const tool of (body.tools ?? []) as Raw[]) delete (tool.function ?? tool).description
        for (const format of [body.text?.format, body.response_format?.json_schema])
          if (format !== undefined) delete format.name
      }
    },
  },
]

const ignore = () => {}
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }
