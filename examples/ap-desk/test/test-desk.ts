import type { PluginList, RuntimeOptions, Store, ToolDefinition } from '@sluice/core'
import { createMemoryStore, createRuntime, runInTransaction } from '@sluice/core'
import type { Script } from '@sluice/testkit'
import { capturedLogger } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import { onTestFinished } from 'vitest'
import { apDesk } from '../src/agent/ap-desk.js'
import { approveInvoice } from '../src/agent/approve-invoice.js'
import type { DeskResources } from '../src/agent/desk-resources.js'
import type { BooksTransaction } from '../src/desk/books.js'
import type { Desk } from '../src/desk/open-desk.js'
import { openDesk } from '../src/desk/open-desk.js'
import { deskRules } from '../src/gates/desk-rules.js'

/** What the desk binds to a run. */
export const BOUND = { invoice: 'INV-1002', vendor: 'V-77', clerk: 'petra.k' } as const
export const CALLER = { user: 'petra.k', audience: 'authenticated' } as const
/** The code of the tool that writes, and arguments for it. */
export const APPROVE = ['ap_approve_invoice', { invoice: 'INV-1002' }] as const

/** Options of {@link openTestDesk}. */
export interface TestDeskOptions {
  /** @default the three rules */
  readonly plugins?: (desk: Desk) => PluginList
  /** `provider/model` of the agents. @default 'scripted/desk' */
  readonly model?: string
  /** @default a store in memory */
  readonly store?: Store
  readonly settings?: RuntimeOptions['settings']
  readonly clock?: RuntimeOptions['clock']
  readonly agents?: RuntimeOptions['agents']
}

/** A desk with a runtime on a scripted model, for one test; everything is closed with it. */
export async function openTestDesk(script: Script, options: TestDeskOptions = {}) {
  const desk = openDesk()
  onTestFinished(() => desk.close())
  const logger = capturedLogger()
  const { plugins = ({ files }) => [deskRules({ controlFile: files.controls })], agents = [], ...others } = options
  const { model = 'scripted/desk', store = createMemoryStore(), ...rest } = others
  const provider = scriptedProvider(script, { id: model.split('/')[0] ?? '' })
  const runtime = await createRuntime({
    store,
    logger,
    providers: [provider],
    agents: [apDesk(model), ...agents],
    plugins: plugins(desk),
    ...rest,
  })
  onTestFinished(() => runtime.close())
  const resources = (tx: BooksTransaction): DeskResources => ({ tx, numbers: desk.numbers })

  return {
    desk,
    provider,
    /** What the runtime logged, in place of standard error. */
    logger,
    runtime,
    resources,
    /** A run of the agent in a transaction of its own. */
    run: (runContext: Readonly<Record<string, string>> = BOUND, agent = 'ap_desk') =>
      runInTransaction(desk.books, (tx) =>
        runtime.execute({
          agent,
          input: { question: 'Please approve it.' },
          caller: CALLER,
          runContext,
          resources: resources(tx),
        }),
      ),
    /** A call outside any agent that may approve, in a transaction of its own. */
    call: (
      runContext: Readonly<Record<string, string>> = BOUND,
      tool: ToolDefinition<never> | ToolDefinition = approveInvoice,
    ) =>
      runInTransaction(desk.books, (tx) =>
        runtime.generateText({
          model,
          prompt: 'Please approve it.',
          tools: [tool],
          runContext,
          resources: resources(tx),
        }),
      ),
  }
}

/** What a promise rejects with. */
export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('It was expected to fail, and did not.')
}
