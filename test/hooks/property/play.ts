import type {
  GateReceipt,
  Hooks,
  ModelProvider,
  ModelReply,
  PluginInstance,
  Receipt,
  Run,
  Runtime,
  RunEvent,
  Store,
} from '@sluice/core'
import {
  createMemoryStore,
  createRuntime,
  defineAgent,
  definePlugin,
  defineTool,
  refuse,
  shadow,
  SluiceError,
  Veto,
} from '@sluice/core'
import type { FakeClock } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds, SCRIPTED_USAGE } from '@sluice/testkit'
import { z } from 'zod'
import type { Account, ReceiptAccount } from './account.js'
import type { Act } from './acts.js'
import type { Surroundings } from './actor.js'
import { perform, tapFunction } from './actor.js'
import type { CallShape, Composition, Watching } from './composition.js'
import { TIMES } from './composition.js'

const ANSWER = 'The answer.'

/** What one run keeps while it is played. */
interface Playing {
  readonly shape: Composition
  readonly around: Surroundings
  root: string
  requests: number
  readonly drawn: Map<string, number>
  readonly asked: string[]
  readonly started: string[]
  /** By plugin. */
  readonly closings: string[][]
  readonly stops: string[][]
  readonly after: string[][]
  readonly events: string[]
}

/** Plays compositions on one runtime, one after another, and tells what happened. */
export class Theatre {
  readonly #clock: FakeClock = fakeClock()
  readonly #store: Store = createMemoryStore({ clock: this.#clock })
  readonly #runtimes = new Map<number, Runtime>()
  #playing: Playing | undefined

  /** Plays one composition; the account is what can be told of it from outside. */
  async play(shape: Composition): Promise<Account> {
    const base = await this.#runtime(shape.maxWaitMs)
    const controller = new AbortController()
    const around: Surroundings = {
      clock: this.#clock,
      abort: () => controller.abort(new Error('aborted from inside')),
      callRuntime: () => runtime.generateText({ model: 'scripted/side', prompt: 'Is this in order?' }),
    }
    const plugins = shape.plugins.length
    const playing: Playing = {
      shape,
      around,
      root: '',
      requests: 0,
      drawn: new Map(),
      asked: [],
      started: [],
      closings: Array.from({ length: plugins }, () => []),
      stops: Array.from({ length: plugins }, () => []),
      after: Array.from({ length: plugins }, () => []),
      events: [],
    }
    const runtime = await base.fork({ plugins: shape.plugins.map((_, place) => pluginOf(playing, place)) })
    this.#playing = playing
    try {
      const ended = await this.#settle(this.#run(runtime, playing, controller.signal))
      // what comes late must change nothing
      this.#clock.advance(2_000_000)
      await turn()
      return await this.#account(playing, ended)
    } finally {
      await runtime.close()
      this.#playing = undefined
    }
  }

  async close(): Promise<void> {
    for (const runtime of this.#runtimes.values()) await runtime.close()
  }

  async #run(runtime: Runtime, playing: Playing, signal: AbortSignal): Promise<{ run?: Run; error?: unknown }> {
    const options = { agent: 'desk', signal }
    try {
      if (!playing.shape.stream) return { run: await runtime.execute(options) }
      const stream = runtime.stream(options)
      for await (const event of stream) noteEvent(playing, event)
      return { run: await stream.run }
    } catch (error) {
      return { error }
    }
  }

  /** Moves time from timer to timer until the promise settles. */
  async #settle<Value>(promise: Promise<Value>): Promise<Value> {
    let settled = false
    const mark = () => {
      settled = true
    }
    promise.then(mark, mark)
    for (let idle = 0; ; ) {
      await turn()
      if (settled) return promise
      const next = this.#clock.nextTimerMs
      if (next !== undefined) {
        idle = 0
        this.#clock.advance(Math.max(0, next))
      } else if (++idle > 20) throw new Error('the run stands still and no timer is armed')
    }
  }

  async #account(playing: Playing, { run, error }: { run?: Run; error?: unknown }): Promise<Account> {
    const stored = playing.root === '' ? [] : await this.#store.receipts.list(playing.root)
    const receipts: Record<string, ReceiptAccount> = {}
    for (const receipt of stored as unknown as readonly Receipt[]) {
      const key = `${pathOf(playing, receipt.effectId)}#${receipt.attempt}`
      if (Object.hasOwn(receipts, key)) throw new Error(`two receipts for ${key}`)
      receipts[key] = receiptAccount(receipt)
    }
    const partial = SluiceError.isInstance(error) ? error.partial : run
    const { effects, asked, passed, stopped } = partial?.receipts ?? { effects: -1, asked: -1, passed: -1, stopped: -1 }
    const pending = (run?.pending ?? []) as readonly { readonly effectId: string }[]
    return {
      result: resultOf(run, error),
      pending: pending.map(({ effectId }) => pathOf(playing, effectId)),
      asked: playing.asked,
      started: playing.started,
      closings: [...agreed('closings', playing.closings)].sort(),
      stops: agreed('stops', playing.stops),
      afterExecution: agreed('afterExecution', playing.after),
      receipts,
      counts: { effects, asked, passed, stopped },
      toolCalls: (partial?.toolCalls ?? []).map(({ toolCode, status }) => `${toolCode.slice(0, 2)} ${status}`),
      events: playing.shape.stream ? playing.events : undefined,
    }
  }

  /** One runtime for each setting of the one time that compositions differ in. */
  async #runtime(maxWaitMs: number): Promise<Runtime> {
    const known = this.#runtimes.get(maxWaitMs)
    if (known !== undefined) return known
    const { watchMs, gateFreshMs, observerTimeoutMs, abortGraceMs } = TIMES
    const tools = TOOL_CODES.map((code) => this.#tool(code))
    const runtime = await createRuntime({
      store: this.#store,
      clock: this.#clock,
      ids: fakeIds(maxWaitMs),
      logger: capturedLogger(),
      providers: [this.#provider()],
      agents: [
        defineAgent({
          code: 'desk',
          description: 'A desk.',
          model: 'scripted/main',
          system: 'You are a desk.',
          user: 'Go on.',
          tools,
        }),
      ],
      plugins: [],
      limits: { durationMs: 2_000_000_000, modelCalls: 10_000 },
      timeouts: {
        hookTimeoutMs: TIMES.authorizeTimeoutMs,
        watchMs,
        gateFreshMs,
        observerTimeoutMs,
        abortGraceMs,
        maxWaitMs,
      },
      settings: { onToolError: 'return' },
    })
    this.#runtimes.set(maxWaitMs, runtime)
    return runtime
  }

  /** A tool for each place in the round and each kind: what it does, the composition of the moment says. */
  #tool(code: string) {
    const place = Number(code[1]) - 1
    const effect = code.includes('r') ? 'read' : code.includes('w') ? 'write' : 'send'
    return defineTool({
      code,
      description: 'Does something.',
      effect,
      input: z.object({ text: z.string() }),
      ...(code.endsWith('a') ? { authorize: (_args, tool) => this.#authorize(place, tool) } : {}),
      handler: (_args, tool) => this.#handle(place, tool.signal),
    } as Parameters<typeof defineTool>[0])
  }

  #authorize(place: number, tool: { readonly effectId: string }): void {
    const playing = this.#playing as Playing
    const acts = (playing.shape.calls[place] as CallShape).authorize
    const act = draw(playing, `tool:t${place + 1}`, acts)
    playing.asked.push(`${pathOf(playing, tool.effectId)} authorize tool:t${place + 1}`)
    return perform(act, TIMES.authorizeTimeoutMs, playing.around, tool) as undefined
  }

  #handle(place: number, signal: AbortSignal): unknown {
    const playing = this.#playing as Playing
    const { ms, ends } = playing.shape.calls[place] as CallShape
    playing.started.push(`t${place + 1}`)
    const end = () => {
      if (ends === 'vetoes') throw new Veto('HANDLER_SAYS_NO', 'The handler stops the run.')
      if (ends === 'throws') throw new Error('a bug in a handler')
      return ends === 'refuses' ? REFUSAL : 'done'
    }
    return ms === 0 ? end() : this.#wait(ms, signal, playing.shape.honoursSignal).then(end)
  }

  #wait(ms: number, signal: AbortSignal, honours: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        timer.cancel()
        if (honours) reject(signal.reason)
      })
    })
  }

  #provider(): ModelProvider {
    const answer = async (model: string, offered: number, signal: AbortSignal): Promise<ModelReply> => {
      const playing = this.#playing as Playing
      const side = model === 'side'
      playing.started.push(side ? 'side' : 'model')
      const first = !side && playing.requests++ === 0
      const ms = side ? TIMES.sideReplyMs : playing.shape.replyMs[first ? 0 : 1]
      if (ms > 0) await this.#wait(ms, signal, playing.shape.honoursSignal)
      const calls = first && offered > 0 ? playing.shape.calls : []
      return {
        parts: [
          { type: 'text', text: ANSWER },
          ...calls.map(
            (call, place) =>
              ({
                type: 'tool_call',
                toolCallId: `c${place}`,
                toolName: toolCode(call, place),
                args: '{"text":"x"}',
              }) as const,
          ),
        ],
        finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
        usage: SCRIPTED_USAGE,
        model,
      }
    }
    return {
      id: 'scripted',
      protocol: 'scripted',
      defaults: { onToolError: 'throw', onToolLimit: 'throw' },
      generate: (request, signal) => answer(request.model, request.tools.length, signal),
      async *stream(request, signal) {
        const reply = await answer(request.model, request.tools.length, signal)
        yield { type: 'text_delta', text: ANSWER }
        yield { type: 'reply', reply }
      },
    }
  }
}

const REFUSAL = refuse('Not today.')
const TOOL_CODES = ['t1', 't2', 't3'].flatMap((place) =>
  ['r', 'w', 's'].flatMap((kind) => [`${place}${kind}`, `${place}${kind}a`]),
)
const KIND_LETTER = { read: 'r', write: 'w', send: 's' } as const
const toolCode = (call: CallShape, place: number) =>
  `t${place + 1}${KIND_LETTER[call.effect]}${call.authorize.length === 0 ? '' : 'a'}`
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))
const pathOf = (playing: Playing, effectId: string) => effectId.slice(playing.root.length + 1)

function draw(playing: Playing, id: string, acts: readonly Act[]): Act {
  const drawn = playing.drawn.get(id) ?? 0
  playing.drawn.set(id, drawn + 1)
  return acts[Math.min(drawn, acts.length - 1)] as Act
}

function pluginOf(playing: Playing, place: number): PluginInstance {
  const shape = playing.shape.plugins[place] as Composition['plugins'][number]
  const plugin = definePlugin({
    name: `p${place}`,
    hookApi: 1,
    apply(hooks) {
      for (const [number, gate] of shape.gates.entries()) {
        const id = `p${place}.${number}`
        const fn = tapFunction(gate.via, gate.timeoutMs, playing.around, (context) => {
          const { effectId, rootExecutionId } = context as { effectId: string; rootExecutionId: string }
          playing.root = rootExecutionId
          playing.asked.push(`${pathOf(playing, effectId)} ${gate.point} ${id}`)
          return draw(playing, id, gate.acts)
        })
        // on purpose past the types, which refuse most of what is tapped here
        const hook = hooks[gate.point] as unknown as Record<typeof gate.via, (options: object, fn: unknown) => void>
        hook[gate.via]({ name: id, stage: gate.stage, timeoutMs: gate.timeoutMs }, fn)
      }
      watch(playing, place, hooks, shape.watching)
    },
  })()
  return shape.shadow ? shadow(plugin) : plugin
}

/** Observers at every closing point; each notes what it saw before it behaves as it does. */
function watch(playing: Playing, place: number, hooks: Hooks, watching: Watching): void {
  const note = (list: readonly string[][], line: string) => (list[place] as string[]).push(line)
  const closing = (context: {
    effectId: string
    attempt: number
    outcome: string
    sent: string
    rootExecutionId: string
  }) => {
    playing.root = context.rootExecutionId
    const late = (playing.after[place] as string[]).length > 0 ? ' after the end of the run' : ''
    note(
      playing.closings,
      `${pathOf(playing, context.effectId)}#${context.attempt} ${context.outcome} ${context.sent}${late}`,
    )
  }
  const tap = (
    point: 'afterModelCall' | 'afterToolCall' | 'afterExecution' | 'onStop',
    see: (context: never) => void,
  ) => {
    const behave = observerFunction(watching, playing.around.clock)
    const hook = hooks[point] as unknown as Record<'tap' | 'tapAsync', (name: string, fn: unknown) => void>
    if (watching === 'calls-back-twice') {
      hook.tapAsync('watch', (context: never, callback: () => void) => {
        see(context)
        callback()
        callback()
      })
      return
    }
    hook.tap('watch', (context: never) => {
      see(context)
      return behave()
    })
  }
  tap('afterModelCall', closing as never)
  tap('afterToolCall', closing as never)
  tap('afterExecution', ((context: { status: string }) => note(playing.after, context.status)) as never)
  tap('onStop', ((context: {
    point: string
    plugin: string | null
    answer: string
    code: string
    rootExecutionId: string
  }) => {
    playing.root = context.rootExecutionId
    const plugin = context.plugin?.startsWith('tool:') === true ? context.plugin.slice(0, 7) : context.plugin
    note(playing.stops, `${context.point} ${plugin} ${context.answer} ${context.code}`)
  }) as never)
}

function observerFunction(watching: Watching, clock: FakeClock): () => unknown {
  switch (watching) {
    case 'throws':
      return () => {
        throw new Error('an observer with a bug')
      }
    case 'rejects':
      return () => Promise.reject(new Error('an observer that rejects'))
    case 'hangs':
      return () => new Promise(() => {})
    case 'slowly':
      return () => new Promise<void>((resolve) => void clock.setTimeout(resolve, TIMES.slowObserverMs))
    case 'gives-false':
      return () => false
    default:
      return () => undefined
  }
}

const EVENTS = new Set(['assistant_text', 'tool_call', 'tool_result', 'response_complete'])

function noteEvent(playing: Playing, event: RunEvent): void {
  if (EVENTS.has(event.type)) playing.events.push(event.type)
}

function receiptAccount({ outcome, sent, askings }: Receipt): ReceiptAccount {
  const lines = askings.map(({ gates }) => gates.map(gateLine)).filter((rows) => rows.length > 0)
  return { outcome, sent, askings: lines }
}

function gateLine({ plugin, point, answer, code }: GateReceipt): string {
  const name = plugin.startsWith('tool:') ? plugin.slice(0, 7) : plugin
  return `${name} ${point} ${answer}${code === undefined ? '' : ` ${code}`}`
}

function resultOf(run: Run | undefined, error: unknown): string {
  if (run !== undefined) {
    if (run.status === 'completed' && run.text !== ANSWER) return `completed with ${String(run.text)}`
    return run.status
  }
  if (!SluiceError.isInstance(error)) return `threw ${String(error)}`
  if (error.code === 'RUN_ABORTED') return 'aborted RUN_ABORTED'
  return `${Veto.isInstance(error) ? 'veto' : error.code === 'HOOK_FAILED' ? 'hook' : 'other'} ${error.code}`
}

/** What each plugin saw, which has to be the same for all. */
function agreed(what: string, seen: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = seen
  for (const other of seen)
    if (other.join('\n') !== first.join('\n'))
      throw new Error(`plugins saw different ${what}:\n${first.join('\n')}\n---\n${other.join('\n')}`)
  return first
}
