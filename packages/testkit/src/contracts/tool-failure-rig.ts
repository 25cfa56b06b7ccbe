import type { Generated, GenerateOptions, ModelProvider, PluginInstance, Runtime, Store } from '@sluice/core'
import { createMemoryStore, createRuntime, defineTool } from '@sluice/core'
import { capturedLogger } from '../captured-logger.js'
import { fakeIds } from '../fake-ids.js'
import type { FixtureProtocol, FixtureSituation } from '../replay/load-fixture.js'
import type { ReplayedRequest } from '../replay/replay-router.js'
import { replay } from '../replay/replay.js'

/** Makes the provider under test. Called once per row, while its answers are replayed. */
export type MakeWiredProvider = (wire: { readonly apiKey: string }) => ModelProvider | Promise<ModelProvider>

/** Options of `describeToolFailures`. */
export interface ToolFailureOptions {
  /** Whose fixtures are replayed. @default the protocol of the provider */
  readonly protocol?: FixtureProtocol
  /** Model name in the requests; the fixtures take any. @default 'test-model' */
  readonly model?: string
  /** What the provider has to do by itself. @default the row of its protocol in `PROVIDER_ROWS` */
  readonly row?: ModelProvider['defaults']
}

/** What the handlers of a row do. */
export type Handler = (toolCode: string) => unknown

/** What came of one call. */
export interface CallOutcome {
  readonly result: Generated | undefined
  readonly error: unknown
  /** Codes of the tools whose handlers were entered, in order. */
  readonly handled: readonly string[]
  readonly requests: readonly ReplayedRequest[]
  readonly store: Store
}

export interface CallSetup {
  readonly situation: FixtureSituation
  readonly plugins?: readonly PluginInstance[]
  readonly handler?: Handler
  readonly settings?: GenerateOptions['settings']
  readonly maxToolCalls?: number
}

const TOOLS = ['ap_get_invoice', 'ap_get_vendor', 'ap_list_open_invoices', 'ap_approve_invoice']

/** Replays one situation through a runtime with four tools; fails when a request fits nothing or an exchange is left over. */
export async function callReplayed(
  makeProvider: MakeWiredProvider,
  options: ToolFailureOptions,
  setup: CallSetup,
): Promise<CallOutcome> {
  const probe = options.protocol ?? ((await makeProvider({ apiKey: 'no-key-needed' })).protocol as FixtureProtocol)
  const wire = replay(`${probe}/${setup.situation}`)
  const store = createMemoryStore()
  const handled: string[] = []
  let runtime: Runtime | undefined
  try {
    const provider = await makeProvider(wire)
    const tools = TOOLS.map((code) =>
      defineTool({
        code,
        description: `Test tool ${code}.`,
        input: { type: 'object', properties: { invoice: { type: 'string' }, vendor: { type: 'string' } } },
        effect: code === 'ap_approve_invoice' ? 'write' : 'read',
        handler: () => {
          handled.push(code)
          return setup.handler === undefined ? `${code} done` : setup.handler(code)
        },
      }),
    )
    const plugins = setup.plugins ?? []
    runtime = await createRuntime({ providers: [provider], plugins, store, ids: fakeIds(), logger: capturedLogger() })
    const outcome = await runtime
      .generateText({
        model: `${provider.id}/${options.model ?? 'test-model'}`,
        prompt: 'Please look after invoice INV-1002.',
        tools,
        ...(setup.settings === undefined ? {} : { settings: setup.settings }),
        ...(setup.maxToolCalls === undefined ? {} : { maxToolCalls: setup.maxToolCalls }),
      })
      .then(
        (result) => ({ result, error: undefined }),
        (error: unknown) => ({ result: undefined, error }),
      )
    const { requests } = wire
    wire.done()
    return { ...outcome, handled, requests, store: store }
  } finally {
    wire.restore()
    await runtime?.close()
  }
}
