import type { Run, Runtime, Store } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent } from '@sluice/core'
import type { FakeClock } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds } from '@sluice/testkit'
import type { Account } from './account.js'
import type { Surroundings } from './actor.js'
import type { Composition } from './composition.js'
import { TIMES } from './composition.js'
import { accountOf, noteEvent } from './play-account.js'
import { pluginOf } from './play-plugin.js'
import { PlayWorld } from './play-world.js'
import type { Playing } from './playing.js'

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
      return await accountOf(this.#store, playing, ended)
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

  /** One runtime for each setting of the one time that compositions differ in. */
  async #runtime(maxWaitMs: number): Promise<Runtime> {
    const known = this.#runtimes.get(maxWaitMs)
    if (known !== undefined) return known
    const { watchMs, gateFreshMs, observerTimeoutMs, abortGraceMs } = TIMES
    const world = new PlayWorld(this.#clock, () => this.#playing as Playing)
    const runtime = await createRuntime({
      store: this.#store,
      clock: this.#clock,
      ids: fakeIds(maxWaitMs),
      logger: capturedLogger(),
      providers: [world.provider()],
      agents: [
        defineAgent({
          code: 'desk',
          description: 'A desk.',
          model: 'scripted/main',
          system: 'You are a desk.',
          user: 'Go on.',
          tools: world.tools(),
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
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))
