import type { Caller, Clock, Logger, ModelProvider, OfferedRunContext, Run, Runtime } from '@sluice/core'
import { createRuntime, runInTransaction } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { Fixture } from '@sluice/testkit'
import { loadFixture, replay } from '@sluice/testkit'
import { apDesk } from '../agent/ap-desk.js'
import type { DeskResources } from '../agent/desk-resources.js'
import { vendorDesk } from '../agent/vendor-desk.js'
import type { Desk } from '../desk/open-desk.js'
import { openDesk } from '../desk/open-desk.js'
import { deskRules } from '../gates/desk-rules.js'
import { fourEyes } from '../gates/four-eyes.js'
import { deskGuards } from '../gates/guards.js'
import type { ProviderChoice } from './provider-choice.js'
import type { SceneFixture } from './scene.js'
import { SERVICE_USER } from './service-user.js'

/** How scenes are played. */
export interface PlayOptions {
  /** Asks the real provider. @default false */
  readonly live?: boolean
  /** Where the runtime writes its log. @default its own: one line of JSON for each failed run, on standard error */
  readonly logger?: Logger | undefined
  /** Of the runtime and its store. @default the clock of the machine */
  readonly clock?: Clock | undefined
}

/** Who asks the desk for what. */
export interface Asking {
  /** @default 'ap_desk' */
  readonly agent?: string
  readonly question: string
  readonly caller: Caller
  readonly runContext: OfferedRunContext
}

/** How a run ended, or where it has come to. */
export type Ended = { readonly run: Run } | { readonly error: unknown }

/** A desk with a runtime, and with all gates in front of it. */
export interface DeskAtWork {
  readonly desk: Desk
  /** `provider/model`. */
  readonly model: string
  /** The runtime of now: {@link DeskAtWork.reopen} puts another one there. */
  readonly runtime: Runtime
  /** Runs in a transaction of its own. A run that fails is an ending like any other and is not thrown. */
  ask(asking: Asking): Promise<Ended>
  /** Carries a paused run on, in another transaction. */
  resume(executionId: string): Promise<Ended>
  /** Closes runtime and store and opens others on the same folder, as a new process would. */
  reopen(): Promise<void>
}

/** Opens a desk in its first state for one piece of work, on replayed traffic unless `live`; closes and removes it then. */
export async function withDesk<Result>(
  choice: ProviderChoice,
  fixtures: readonly SceneFixture[],
  { live = false, logger, clock }: PlayOptions,
  work: (at: DeskAtWork) => Promise<Result>,
): Promise<Result> {
  const desk = openDesk()
  const wire = live ? undefined : replay(joined(fixtures, choice))
  const model = `${choice.providerId ?? choice.id}/${(live ? process.env[choice.modelVariable] : undefined) || choice.model}`
  const open = () =>
    openRuntime(desk, model, wire === undefined ? choice.createLive() : choice.createReplayed(wire.apiKey), {
      logger,
      clock,
    })
  let opened: Awaited<ReturnType<typeof open>> | undefined
  try {
    opened = await open()
    const at: DeskAtWork = {
      desk,
      model,
      get runtime() {
        if (opened === undefined) throw new Error('The desk is closed.')
        return opened.runtime
      },
      ask: ({ agent = 'ap_desk', question, caller, runContext }) =>
        settled(() =>
          // the caller of a run decides when to commit: after success, and after a pause; every error rolls back
          runInTransaction(desk.books, (tx) =>
            at.runtime.execute({
              agent,
              input: { question },
              caller,
              runContext,
              resources: { tx, numbers: desk.numbers } satisfies DeskResources,
            }),
          ),
        ),
      resume: (executionId) =>
        settled(() =>
          runInTransaction(desk.books, (tx) =>
            at.runtime.resume(executionId, {
              scope: { tenant: null },
              resources: { tx, numbers: desk.numbers } satisfies DeskResources,
            }),
          ),
        ),
      async reopen() {
        const closing = opened
        opened = undefined
        await closing?.close()
        opened = await open()
      },
    }
    const result = await work(at)
    wire?.done()
    return result
  } finally {
    wire?.restore()
    await opened?.close()
    desk.close()
  }
}

async function openRuntime(
  desk: Desk,
  model: string,
  provider: ModelProvider,
  { logger, clock }: Pick<PlayOptions, 'logger' | 'clock'>,
) {
  const time = clock === undefined ? {} : { clock }
  const store = await createLowdbStore({ folder: desk.storeFolder, ...time })
  const runtime = await createRuntime({
    store,
    providers: [provider],
    agents: [apDesk(model), vendorDesk(model)],
    plugins: [
      deskRules({ controlFile: desk.files.controls }),
      fourEyes({ booksFile: desk.files.books, uptoCents: 1_000_000 }),
      ...deskGuards(desk.keys),
    ],
    serviceUser: SERVICE_USER,
    ...time,
    ...(logger === undefined ? {} : { logger }),
    // what a broken tool ends in would differ from provider to provider: here it ends the run, whoever answers
    settings: { onToolError: 'throw' },
    limits: { modelCalls: 8, durationMs: 120_000 },
  })
  return {
    runtime,
    async close() {
      await runtime.close()
      await store.close()
    },
  }
}

async function settled(work: () => Promise<Run>): Promise<Ended> {
  try {
    return { run: await work() }
  } catch (error) {
    return { error }
  }
}

/** The exchanges of all fixtures, one after another. */
function joined(fixtures: readonly SceneFixture[], { protocol }: ProviderChoice): Fixture {
  const loaded = fixtures.map((fixture) =>
    'testkit' in fixture
      ? loadFixture(`${protocol}/${fixture.testkit}`)
      : loadFixture(new URL(`../../fixtures/${protocol}/${fixture.own}.json`, import.meta.url)),
  )
  return { ...loaded[0], exchanges: loaded.flatMap(({ exchanges }) => exchanges) }
}
