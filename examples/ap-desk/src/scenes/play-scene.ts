import type { Logger, ModelProvider, Run, Runtime } from '@sluice/core'
import { createRuntime, runInTransaction } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { FixtureSource } from '@sluice/testkit'
import { replay } from '@sluice/testkit'
import type { Account, Books, Note } from '../account/account.js'
import { collectAccount } from '../account/collect-account.js'
import { apDesk } from '../agent/ap-desk.js'
import type { DeskResources } from '../agent/desk-resources.js'
import type { Desk } from '../desk/open-desk.js'
import { openDesk } from '../desk/open-desk.js'
import { deskRules } from '../gates/desk-rules.js'
import { fourEyes } from '../gates/four-eyes.js'
import type { ProviderChoice } from './provider-choice.js'
import type { Scene } from './scene.js'
import { SERVICE_USER } from './service-user.js'

/** Options of {@link playScene}. */
export interface PlayOptions {
  /** Asks the real provider. @default false */
  readonly live?: boolean
  /** Where the runtime writes its log. @default its own: one line of JSON for each failed run, on standard error */
  readonly logger?: Logger | undefined
}

/** Plays one scene and gives the account of it. A run that fails is an ending like any other and is not thrown. */
export async function playScene(scene: Scene, choice: ProviderChoice, options: PlayOptions = {}): Promise<Account> {
  const { live = false, logger } = options
  const desk = openDesk()
  const wire = live ? undefined : replay(fixtureOf(scene, choice))
  const model = `${choice.id}/${(live ? process.env[choice.modelVariable] : undefined) || choice.model}`
  const open = () =>
    openRuntime(desk, model, wire === undefined ? choice.createLive() : choice.createReplayed(wire.apiKey), logger)
  let opened = await open()
  try {
    scene.prepare?.(desk)
    const before = countBooks(desk)
    const notes: Note[] = []
    let ended = await settled(() => start(scene, desk, opened.runtime))
    if ('run' in ended && ended.run.status === 'paused' && scene.decision !== undefined) {
      const { executionId, pending } = ended.run
      for (const { toolCode, plugin, code } of pending) notes.push({ kind: 'paused', toolCode, plugin, code })
      // an answer may take days: nothing of the run has to stay in memory until then
      await opened.close()
      opened = await open()
      const { runtime } = opened
      for (const { effectId } of pending) {
        await runtime.decide(executionId, { effectId, ...scene.decision, scope: { tenant: null } })
      }
      notes.push({ kind: 'decided', ...scene.decision })
      ended = await settled(() => resume(executionId, desk, runtime))
    }
    wire?.done()
    return await collectAccount({
      scene,
      model,
      runtime: opened.runtime,
      ended,
      notes,
      before,
      after: countBooks(desk),
    })
  } finally {
    wire?.restore()
    await opened.close()
    desk.close()
  }
}

/** The caller of a run decides when to commit: after success, and after a pause; every error rolls back. */
function start(scene: Scene, desk: Desk, runtime: Runtime): Promise<Run> {
  return runInTransaction(desk.books, (tx) =>
    runtime.execute({
      agent: 'ap_desk',
      input: { question: scene.question },
      caller: scene.caller,
      runContext: scene.runContext,
      resources: { tx, numbers: desk.numbers } satisfies DeskResources,
    }),
  )
}

function resume(executionId: string, desk: Desk, runtime: Runtime): Promise<Run> {
  return runInTransaction(desk.books, (tx) =>
    runtime.resume(executionId, {
      scope: { tenant: null },
      resources: { tx, numbers: desk.numbers } satisfies DeskResources,
    }),
  )
}

async function openRuntime(desk: Desk, model: string, provider: ModelProvider, logger: Logger | undefined) {
  const store = await createLowdbStore({ folder: desk.storeFolder })
  const runtime = await createRuntime({
    store,
    providers: [provider],
    agents: [apDesk(model)],
    plugins: [
      deskRules({ controlFile: desk.files.controls }),
      fourEyes({ booksFile: desk.files.books, uptoCents: 1_000_000 }),
    ],
    serviceUser: SERVICE_USER,
    ...(logger === undefined ? {} : { logger }),
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

async function settled(work: () => Promise<Run>): Promise<{ readonly run: Run } | { readonly error: unknown }> {
  try {
    return { run: await work() }
  } catch (error) {
    return { error }
  }
}

function countBooks(desk: Desk): Books {
  return { approvals: desk.books.countApprovals(), lastNumber: desk.numbers.last() }
}

function fixtureOf({ fixture }: Scene, { protocol }: ProviderChoice): FixtureSource {
  if ('testkit' in fixture) return `${protocol}/${fixture.testkit}`
  return new URL(`../../fixtures/${protocol}/${fixture.own}.json`, import.meta.url)
}
