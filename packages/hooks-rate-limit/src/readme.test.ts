import { readFileSync } from 'node:fs'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { callGate } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { rateLimit } from './index.js'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const code = (text: string): string => text.replaceAll(/[\s,;()]/g, '')

it('the first example of the README applies', async () => {
  const runtime = await createRuntime({
    store: createMemoryStore(),
    plugins: [
      rateLimit({
        limits: [
          { count: 'runs', scope: 'user', max: 100, per: 'day' },
          { count: 'modelCalls', scope: 'user', max: 60, per: 'minute', burst: 10, wait: true },
          { count: 'tokens', scope: ['tenant', 'model'], max: 2_000_000, per: 'hour' },
          { count: 'runs', inFlight: 8 },
          {
            name: 'mails',
            count: 'toolCalls',
            key: (call) => (call.toolCode === 'send_mail' ? call.user : null),
            max: 3,
            per: 'hour',
          },
        ],
        providerQuota: true,
      }),
    ],
    timeouts: { maxWaitMs: 20_000 },
  })
  expect(await runtime.plugin(rateLimit).status('runs:user:day', { user: 'petra.k' })).toEqual({
    limit: 'runs:user:day',
    max: 100,
    used: 0,
    left: 100,
    retryAfterMs: 0,
  })
  await runtime.close()
})

it('the example of a test in the README is true', async () => {
  const options = { limits: [{ count: 'modelCalls', max: 0, per: 'minute' } as const] }
  expect(await callGate(rateLimit, 'beforeModelCall', {}, { options })).toMatchObject({ code: 'RATE_LIMIT_NEVER_FITS' })
})

it('the examples of the README are this file', () => {
  const source = code(readFileSync(new URL(import.meta.url), 'utf8'))
  const [, first, last] = [...README.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] as string)
  expect(first === undefined).toBe(false)
  const [example] = README.match(/rateLimit\(\{[\s\S]*?providerQuota: true,\n {6}\}\)/) ?? ['?']
  expect(source).toContain(code(example))
  for (const line of (last ?? first ?? '?').trim().split('\n').slice(2)) expect(source).toContain(code(line))
})
