import type { Caller, ModelProvider, Runtime, RuntimeOptions, Store, ToolContext, ToolDefinition } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, defineTool } from '@sluice/core'
import type { CapturedLogger, FakeClock, Script, ScriptedProvider, ScriptedProviderOptions } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

/** A runtime for one test, with everything around it in reach. */
export interface House {
  readonly runtime: Runtime
  readonly store: Store
  readonly clock: FakeClock
  readonly provider: ScriptedProvider
  readonly logger: CapturedLogger
}

/** Options of {@link house}, over what a test usually wants. */
export interface HouseOptions extends Omit<RuntimeOptions, 'clock' | 'logger'> {
  readonly clock?: FakeClock
  readonly logger?: CapturedLogger
  readonly script?: ScriptedProviderOptions
  readonly seed?: number
  /** Further providers beside the scripted one. */
  readonly others?: readonly ModelProvider[]
}

/** A runtime over a script: memory store, fake clock and ids, no plugins. It ends with the test, and the script with it. */
export async function house(script: Script, options: HouseOptions = {}): Promise<House> {
  const { clock = fakeClock(), logger = capturedLogger(), script: shape, seed = 0, others = [], ...rest } = options
  const store = options.store ?? createMemoryStore({ clock })
  const provider = scriptedProvider(script, shape ?? {})
  const runtime = await createRuntime({
    store,
    clock,
    logger,
    ids: fakeIds(seed),
    providers: [provider, ...others],
    plugins: [],
    environment: () => ({ osUser: 'svc', host: 'box-1' }),
    ...rest,
  })
  // time goes on by itself here, so that a handler that never ends does not hold up the next test
  onTestFinished(() => clock.settle(runtime.close()))
  return { runtime, store, clock, provider, logger }
}

type AgentTools = NonNullable<Parameters<typeof defineAgent>[0]['tools']>

/** The agent of most tests: a question, a standing system prompt, some tools. */
export function desk(tools: AgentTools = [], more: Readonly<Record<string, unknown>> = {}) {
  return defineAgent({
    code: 'ap_desk',
    description: 'Answers questions about invoices.',
    model: 'scripted/model-1',
    system: 'You are the desk.',
    user: '{question}',
    tools,
    ...more,
  } as never) as ReturnType<typeof defineAgent<'You are the desk.', '{question}'>>
}

/** A tool that keeps the arguments of its calls and answers with text, unless `options` says otherwise. */
export function noteTool(options: Readonly<Record<string, unknown>> = {}) {
  const calls: unknown[] = []
  const { handler, ...rest } = options as { handler?: (args: any, tool: ToolContext) => unknown }
  const tool = defineTool({
    code: 'write_note',
    description: 'Writes a note.',
    effect: 'write',
    input: z.object({ text: z.string().optional() }),
    ...rest,
    handler: (args: unknown, context: ToolContext) => {
      calls.push(args)
      return handler === undefined ? 'written' : handler(args, context)
    },
  } as never) as unknown as ToolDefinition
  return { tool, calls }
}

/** What a rejected promise rejected with; fails where it resolved. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<any> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`a failure was expected, and this came: ${JSON.stringify(value)?.slice(0, 300)}`)
}

export const PETRA: Caller = { user: 'petra.k', tenant: 'acme', audience: 'authenticated' }
export const QUESTION = { question: 'Is INV-7 due?' } as const
