import type {
  ExecuteOptions,
  GateContexts,
  GatePoint,
  Hooks,
  ObserverContexts,
  PluginInstance,
  Receipt,
  Run,
  Runtime,
  RuntimeOptions,
  Store,
  TapOptions,
  ToolContext,
  ToolDefinition,
} from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, definePlugin, defineTool, SluiceError } from '@sluice/core'
import type { CapturedLogger, FakeClock, Script, ScriptedProvider, ScriptedProviderOptions } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

/** A runtime for one test, with everything around it in reach. */
export interface Rig {
  readonly runtime: Runtime
  readonly store: Store
  readonly clock: FakeClock
  readonly provider: ScriptedProvider
  readonly logger: CapturedLogger
  /** Runs the desk and moves time until the run has ended; what was thrown comes back as a value. */
  run(options?: Partial<ExecuteOptions>): Promise<Ended>
  /** Moves time until a promise settles; what was thrown comes back as a value. */
  end(running: Promise<Run>): Promise<Ended>
  receipts(rootExecutionId: string): Promise<readonly Receipt[]>
}

/** How a run ended: with a result or with an error. */
export interface Ended {
  readonly run: Run | undefined
  readonly error: SluiceError | undefined
  readonly code: string | undefined
}

export interface RigOptions extends Partial<Omit<RuntimeOptions, 'clock' | 'logger' | 'store'>> {
  readonly clock?: FakeClock
  readonly store?: Store
  readonly script?: ScriptedProviderOptions
  readonly seed?: number
}

/** The scope that sees everything. */
export const ALL = Object.freeze({ scope: 'all' as const })

/** A runtime over a script: memory store, fake clock and ids, an agent `desk`. It ends with the test, and the script with it. */
export async function rig(script: Script, options: RigOptions = {}): Promise<Rig> {
  const {
    clock = fakeClock(),
    store = createMemoryStore({ clock }),
    script: shape,
    seed = 0,
    providers = [],
    ...rest
  } = options
  const logger = capturedLogger()
  const provider = scriptedProvider(script, shape ?? {})
  const runtime = await createRuntime({
    store,
    clock,
    logger,
    ids: fakeIds(seed),
    providers: [provider, ...providers],
    plugins: [],
    agents: [desk()],
    ...rest,
  })
  onTestFinished(() => runtime.close())
  const end = (running: Promise<Run>): Promise<Ended> => clock.settle(caught(running))
  return {
    runtime,
    store,
    clock,
    provider,
    logger,
    end,
    run: (given = {}) => end(runtime.execute({ agent: 'desk', ...given }) as Promise<Run>),
    receipts: async (id) => (await store.receipts.list(id)) as unknown as readonly Receipt[],
  }
}

/** How a run ends, without moving time. */
export async function caught(running: Promise<Run>): Promise<Ended> {
  try {
    return { run: await running, error: undefined, code: undefined }
  } catch (error) {
    if (!SluiceError.isInstance(error)) throw error
    return { run: undefined, error, code: error.code }
  }
}

type Tools = NonNullable<Parameters<typeof defineAgent>[0]['tools']>

/** An agent: `desk`, unless `code` says otherwise. */
export function desk(tools: Tools = [], options: Readonly<Record<string, unknown>> = {}) {
  return defineAgent({
    code: 'desk',
    description: 'A desk.',
    model: 'scripted/model-1',
    system: 'You are a desk.',
    user: 'Go on.',
    tools,
    ...options,
  } as Parameters<typeof defineAgent>[0])
}

/** A tool `write_note` that counts its calls. */
export function notes(
  options: Readonly<Record<string, unknown>> & {
    readonly handler?: (args: { text: string }, tool: ToolContext) => unknown
  } = {},
) {
  const calls: string[] = []
  const { handler = () => 'written', ...rest } = options
  const tool = defineTool({
    code: 'write_note',
    description: 'Writes a note.',
    effect: 'write',
    input: z.object({ text: z.string().default('') }),
    ...rest,
    handler: (args: { text: string }, context: ToolContext) => {
      calls.push(args.text)
      return handler(args, context)
    },
  } as unknown as Parameters<typeof defineTool>[0]) as unknown as ToolDefinition
  return { tool, calls }
}

type Answer<Point extends GatePoint> = (context: GateContexts[Point]) => unknown

/** A plugin with one gate. What the gate returns is not typed here: tests return what they should not. */
export function gate<Point extends GatePoint>(
  point: Point,
  answer: Answer<Point>,
  options: { readonly name?: string; readonly via?: 'tap' | 'tapPromise' | 'tapAsync' } & Omit<TapOptions, 'name'> = {},
): PluginInstance {
  const { name = 'gate', via = 'tap', ...tap } = options
  return plugin(name, (hooks) => {
    const hook = hooks[point] as unknown as Record<typeof via, (options: object, fn: unknown) => void>
    hook[via]({ name: 'gate', ...tap }, answer)
  })
}

/** A plugin in one line. */
export function plugin(name: string, apply: (hooks: Hooks, host: never) => unknown): PluginInstance {
  return definePlugin({ name, hookApi: 1, apply: apply as never })()
}

type Observed = { readonly [Point in Exclude<keyof ObserverContexts, 'onEvent'>]: ObserverContexts[Point][] }

/** A plugin that only looks: everything that observers are told, by point. */
export function watcher(name = 'watcher'): Observed & { readonly plugin: PluginInstance } {
  const seen: Observed = { afterModelCall: [], afterToolCall: [], afterExecution: [], onStop: [] }
  const watching = plugin(name, (hooks) => {
    for (const point of Object.keys(seen) as (keyof Observed)[])
      (hooks[point] as Hooks['onStop']).tap('watch', (context) => void seen[point].push(context as never))
  })
  return { ...seen, plugin: watching }
}

/** One line per stop: where, by whom, what and which code. */
export const stopLines = (stops: Observed['onStop']) =>
  stops.map(({ point, plugin: by, answer, code }) => `${point} ${by} ${answer} ${code}`)

/** One line per closing call. */
export const closingLines = (
  closings: readonly { effectId: string; attempt: number; outcome: string; sent: string }[],
) =>
  closings.map(
    ({ effectId, attempt, outcome, sent }) =>
      `${effectId.slice(effectId.indexOf('/') + 1)}#${attempt} ${outcome} ${sent}`,
  )
