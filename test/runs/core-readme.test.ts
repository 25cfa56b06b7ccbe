import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelProvider, Runtime, ToolContext } from '@sluice/core'
import {
  createRuntime,
  DEFAULT_LIMITS,
  DEFAULT_SETTINGS,
  DEFAULT_TIMEOUTS,
  defineAgent,
  definePlugin,
  defineTool,
  EventType,
  GATE_ANSWERS,
  HOOK_POINTS,
  Pause,
  ProviderError,
  SluiceError,
  Stage,
  Veto,
} from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { Script } from '@sluice/testkit'
import { reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'

interface Bank {
  pay(invoice: string, amount: number, key: string): string
}

const readme = readFileSync(new URL('../../packages/core/README.md', import.meta.url), 'utf8')

const getInvoice = defineTool({
  code: 'get_invoice',
  description: 'Reads one invoice.',
  effect: 'read',
  input: z.object({ invoice: z.string() }),
  handler: ({ invoice }) => ({ invoice, amount: 12_000, open: true }),
})

const payInvoice = defineTool({
  code: 'pay_invoice',
  description: 'Pays one invoice.',
  effect: 'write',
  input: z.object({ invoice: z.string(), amount: z.number() }),
  handler: ({ invoice, amount }, tool: ToolContext<{ bank: Bank }>) =>
    tool.resources.bank.pay(invoice, amount, tool.idempotencyKey),
})

const secondPerson = definePlugin({
  name: 'second-person',
  hookApi: 1,
  options: z.object({ above: z.number() }),
  apply(hooks, host) {
    hooks.inspectToolInput.tap({ name: 'amount', stage: Stage.approve }, (call) => {
      if (call.toolCode !== 'pay_invoice' || Number(call.args.amount) <= host.options.above) return
      if (call.decision === undefined)
        throw new Pause('SECOND_PERSON', { details: { amount: Number(call.args.amount) } })
      if (call.decision.decision === 'deny')
        throw new Veto('SECOND_PERSON_SAID_NO', call.decision.note ?? 'Not approved.')
    })
  },
})

const desk = defineAgent({
  code: 'desk',
  description: 'Pays invoices.',
  model: 'openai/gpt-5',
  system: 'You help {clerk}.',
  user: '{question}',
  requiredContext: ['clerk'],
  tools: [getInvoice, payInvoice],
  output: z.object({ answer: z.string(), paid: z.boolean() }),
})

async function openDesk(folder: string, provider: ModelProvider) {
  const store = await createLowdbStore({ folder })
  const runtime = await createRuntime({
    store,
    providers: [provider],
    agents: [desk],
    plugins: [secondPerson({ above: 10_000 })],
  })
  return { runtime, close: () => runtime.close().then(() => store.close()) }
}

async function ask(runtime: Runtime, question: string, bank: Bank) {
  const stream = runtime.stream({
    agent: desk,
    input: { question },
    caller: { user: 'petra.k' },
    runContext: { clerk: 'petra.k' },
    resources: { bank },
  })
  for await (const event of stream) {
    if (event.type === EventType.assistantTextDelta) process.stdout.write(event.data.text)
  }
  return stream.run
}

/** Days later, in another process: a human has said yes. */
async function approve(runtime: Runtime, executionId: string, bank: Bank) {
  const scope = { tenant: null }
  const { pending } = await runtime.executions.get(executionId, { scope })
  for (const { effectId } of pending)
    await runtime.decide(executionId, { effectId, decision: 'approve', by: 'boss', scope })
  return runtime.resume(executionId, { scope, resources: { bank } })
}

function explainFailure(error: unknown): string {
  if (Veto.isInstance(error)) return `${error.by?.plugin} said no: ${error.code}`
  if (ProviderError.isInstance(error) && error.retryable) return `try again in ${error.retryAfterMs ?? 1_000} ms`
  if (SluiceError.isInstance(error))
    return `${error.code} after ${error.partial?.toolCalls.length ?? 0} tool calls: ${error.message}`
  throw error
}

function openAt(folder: string, script: Script) {
  return openDesk(folder, scriptedProvider(script, { id: 'openai' }))
}

describe('the README of the core', () => {
  it('its examples are this file', () => {
    const code = (text: string) => text.replaceAll(/\s|[,;()]/g, '')
    const here = code(readFileSync(new URL(import.meta.url), 'utf8'))
    const blocks = [...readme.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((block) => block[1] as string)
    expect(blocks).toHaveLength(3)
    for (const block of blocks) expect(here).toContain(code(block).replaceAll('export', ''))
  })

  it('what it shows works: a stream, a pause, an answer and the end in another runtime', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    onTestFinished(() => written.mockRestore())
    const paid: string[] = []
    const bank: Bank = { pay: (invoice, amount) => `${paid.push(`${invoice} ${amount}`)} paid` }

    const first = await openAt(folder, [
      reply.toolCall('get_invoice', { invoice: 'INV-7' }),
      reply('I pay it.').toolCall('pay_invoice', { invoice: 'INV-7', amount: 12_000 }),
    ])
    const paused = await ask(first.runtime, 'Pay INV-7.', bank)
    await first.close()
    expect([paused.status, paid, written.mock.calls.map(([text]) => text).join('')]).toEqual([
      'paused',
      [],
      'I pay it.',
    ])
    if (paused.status === 'completed') expectTypeOf(paused.output).toEqualTypeOf<{ answer: string; paid: boolean }>()

    const second = await openAt(folder, [reply.json({ answer: 'Paid.', paid: true })])
    const done = await approve(second.runtime, paused.executionId, bank)
    await second.close()
    expect([done.status, done.output, paid]).toEqual(['completed', { answer: 'Paid.', paid: true }, ['INV-7 12000']])
  })

  it('a failure is told by who stopped it and by what had been done', () => {
    const by = { plugin: 'second-person', point: 'inspectToolInput' }
    expect(explainFailure(new Veto('NO', 'x', undefined, { by }))).toBe('second-person said no: NO')
    const busy = { provider: 'openai', retryable: true, retryAfterMs: 50 }
    expect(explainFailure(new ProviderError('PROVIDER_RATE_LIMITED', 'x', busy))).toBe('try again in 50 ms')
    expect(explainFailure(new SluiceError('BUSY', 'x'))).toBe('BUSY after 0 tool calls: x')
  })

  it('its tables hold every hook point with its answers, every event, option and default', () => {
    for (const point of Object.keys(HOOK_POINTS)) expect(readme).toContain(`\`${point}\``)
    for (const [point, answers] of Object.entries(GATE_ANSWERS)) {
      if (point !== 'authorize')
        expect(readme).toContain(`| \`${point}\` | gate | ${answers.map((name) => `\`${name}\``).join(', ')} |`)
    }
    for (const type of Object.values(EventType)) expect(readme).toContain(`\`${type}\``)
    const { retry, ...settings } = DEFAULT_SETTINGS
    const retries = Object.fromEntries(Object.entries(retry).map(([name, value]) => [`retry.${name}`, value]))
    for (const [name, value] of Object.entries({ ...DEFAULT_LIMITS, ...DEFAULT_TIMEOUTS, ...settings, ...retries })) {
      const cell = new RegExp(
        `\\| (?:\`\\w+\`, )*\`${name.replace('.', '\\.')}\`(?:, \`\\w+\`)* \\| ${written(value)}[ :]`,
      )
      expect(readme, name).toMatch(cell)
    }
  })
})

/** A default as the tables write it. */
function written(value: unknown): string {
  if (value === null) return 'none'
  if (typeof value === 'string') return `\`'${value}'\``
  if (Array.isArray(value)) return '`\\[\\]`'
  if (typeof value !== 'number') return String(value)
  for (const [size, unit] of [
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
  ] as const) {
    if (value >= 262_144 && value % size === 0) return `${value / size} ${unit}`
  }
  return value < 1_000 ? String(value) : String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')
}
