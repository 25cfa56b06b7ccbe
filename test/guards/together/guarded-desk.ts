import type { ExecuteOptions, PluginInstance, Run, RuntimeOptions, Store } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, defineTool, SluiceError } from '@sluice/core'
import type { AuditEntry } from '@sluice/hooks-audit'
import { audit } from '@sluice/hooks-audit'
import type { BudgetOptions } from '@sluice/hooks-budget'
import { budget } from '@sluice/hooks-budget'
import { approval, killSwitch } from '@sluice/hooks-policy'
import type { RateLimitOptions } from '@sluice/hooks-rate-limit'
import { rateLimit } from '@sluice/hooks-rate-limit'
import type { FakeClock, Script } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

export const PETRA = { user: 'petra.k', tenant: 'acme', appId: 'desk-app' } as const
/** The scope that sees everything. */
export const ALL = Object.freeze({ scope: 'all' as const })

/** Where each guard keeps its documents and logs. */
export const SPACE = {
  audit: 'plugin:hooks-audit',
  budget: 'plugin:hooks-budget',
  killSwitch: 'plugin:hooks-policy/kill-switch',
  rates: 'plugin:hooks-rate-limit',
} as const

/** A call holds $0.003: 1 000 tokens of input and 1 000 of output. */
const BUDGET: BudgetOptions = {
  limits: [
    { scope: 'run', usd: '1' },
    { scope: 'user', per: 'day', usd: '10' },
    { scope: 'tenant', per: 'month', tokens: 1_000_000 },
  ],
  prices: { models: { 'scripted/any': { input: '1', output: '2' } } },
}

const RATES: RateLimitOptions = {
  limits: [
    { count: 'runs', scope: 'user', max: 100, per: 'day' },
    { count: 'modelCalls', scope: 'user', max: 100, per: 'minute' },
    { count: 'tokens', scope: 'tenant', max: 1_000_000, per: 'hour' },
    { count: 'toolCalls', scope: 'tool', max: 100, per: 'hour' },
    { name: 'at-once', count: 'modelCalls', inFlight: 8 },
  ],
  providerQuota: true,
}

/** What the guards of a desk are told. */
export interface GuardParts {
  readonly budget?: Partial<BudgetOptions>
  readonly rates?: Partial<RateLimitOptions>
  /** Tools that a human has to approve. @default none of those that there are */
  readonly approve?: string
}

/** All guards, written in the order in which one would hardly put them: the stages sort them. */
export function guards(parts: GuardParts = {}): readonly PluginInstance[] {
  return [
    audit(),
    budget({ ...BUDGET, ...parts.budget }),
    approval({ tools: [parts.approve ?? 'wire_money'] }),
    rateLimit({ ...RATES, ...parts.rates }),
    killSwitch(),
  ]
}

export interface DeskOptions extends GuardParts {
  readonly store?: Store
  readonly clock?: FakeClock
  readonly plugins?: RuntimeOptions['plugins']
  /** Told when the handler of the tool is entered. */
  readonly onHandler?: () => void
}

/** How a run ended: with a result or with an error. */
export interface Ended {
  readonly run: Run | undefined
  readonly code: string | undefined
}

/** A desk with a tool that writes, behind all guards, over a script. It ends with the test. */
export async function guardedDesk(script: Script, options: DeskOptions = {}) {
  const clock = options.clock ?? fakeClock()
  const store = options.store ?? createMemoryStore({ clock })
  /** What happened outside: requests to the provider, and handlers that were entered. */
  const happened: string[] = []
  const notes = defineTool({
    code: 'write_note',
    description: 'Writes a note.',
    effect: 'write',
    cost: { usd: '0.001' },
    input: z.object({ text: z.string() }),
    handler: (_, tool) => {
      options.onHandler?.()
      happened.push(tool.effectId)
      return 'written'
    },
  })
  const provider = scriptedProvider(script, {
    inputTokensAtMost: () => 1_000,
  })
  const logger = capturedLogger()
  const runtime = await createRuntime({
    store,
    clock,
    logger,
    ids: fakeIds(),
    providers: [provider],
    agents: [
      defineAgent({ code: 'desk', description: 'A desk.', model: 'scripted/any', user: 'Go on.', tools: [notes] }),
    ],
    plugins: options.plugins ?? guards(options),
    settings: { maxOutputTokens: 1_000 },
  })
  onTestFinished(() => runtime.close())
  const end = (running: Promise<unknown>): Promise<Ended> =>
    clock.settle(
      running.then(
        (run) => ({ run: run as Run, code: undefined }),
        (error: unknown) => {
          if (SluiceError.isInstance(error)) return { run: undefined, code: error.code }
          throw error
        },
      ),
    )
  return {
    runtime,
    store,
    clock,
    provider,
    logger,
    happened,
    end,
    run: (more: Partial<ExecuteOptions> = {}) => end(runtime.execute({ agent: 'desk', caller: PETRA, ...more })),
    entries: async (): Promise<readonly AuditEntry[]> =>
      (await store.log(SPACE.audit).read('audit', { limit: 1_000 })).map(({ value }) => value as unknown as AuditEntry),
  }
}
