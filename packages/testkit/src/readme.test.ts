import { readFileSync } from 'node:fs'
import { createMemoryStore, createRuntime, defineAgent, definePlugin, defineTool, Veto } from '@sluice/core'
import { callGate, fakeClock, fakeIds, reply } from './index.js'
import { scriptedProvider, sluiceMatchers } from './vitest.js'
import { expect, test } from 'vitest'
import { z } from 'zod'

expect.extend(sluiceMatchers)

const namedClerk = definePlugin({
  name: 'named-clerk',
  hookApi: 1,
  apply(hooks) {
    hooks.beforeToolCall.tap('clerk', (call) => {
      if (call.toolCode === 'ap_approve_invoice' && call.createdBy === null)
        throw new Veto('AP_CLERK_REQUIRED', 'A named clerk is required.')
    })
  },
})

test('an unnamed clerk approves nothing', async () => {
  const call = { toolCode: 'ap_approve_invoice' }
  await expect(callGate(namedClerk, 'beforeToolCall', call)).toBeVetoed({ code: 'AP_CLERK_REQUIRED' })
  expect(await callGate(namedClerk, 'beforeToolCall', call, { caller: { user: 'petra.k' } })).toMatchObject({
    answer: 'passed',
  })
})

test('the veto leaves the run and the tool does not run', async () => {
  const approve = defineTool({
    code: 'ap_approve_invoice',
    description: 'Approves an invoice.',
    effect: 'write',
    input: z.object({ invoice: z.string() }),
    handler: () => 'approved',
  })
  const desk = defineAgent({
    code: 'ap_desk',
    description: 'The desk.',
    model: 'scripted/any',
    user: '{question}',
    tools: [approve],
  })
  const provider = scriptedProvider([reply.toolCall('ap_approve_invoice', { invoice: 'INV-1002' })])
  const runtime = await createRuntime({
    providers: [provider],
    agents: [desk],
    plugins: [namedClerk()],
    store: createMemoryStore(),
    clock: fakeClock(),
    ids: fakeIds(),
  })
  await expect(runtime.execute({ agent: 'ap_desk', input: { question: 'INV-1002?' } })).toBeVetoed({
    by: 'named-clerk',
  })
  await runtime.close()
})

test('the first example of the README is this file', () => {
  const code = (text: string) => text.replaceAll(/\s|[,;()]/g, '')
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const example = (readme.split('```ts\n')[1] ?? '').split('```')[0] ?? ''
  const here = readFileSync(new URL(import.meta.url), 'utf8')
  const lines = example.split('\n').filter((line) => line !== '' && !line.startsWith('import '))
  expect(lines.length).toBeGreaterThan(20)
  for (const line of lines) expect(code(here)).toContain(code(line))
})
