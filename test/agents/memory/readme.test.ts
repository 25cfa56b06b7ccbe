import { readFileSync } from 'node:fs'
import { createMemory, getMemoryProtocol } from '@sluice/agents'
import { createMemoryStore, createRuntime, defineAgent } from '@sluice/core'
import { reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { create, use } from './house.js'

const README = readFileSync(new URL('../../../packages/agents/README.md', import.meta.url), 'utf8')
const SECTION = README.split(/^## /m).find((part) => part.startsWith('Memory\n')) ?? ''

const desk = defineAgent({
  code: 'vendor_desk',
  description: 'Answers questions about one vendor.',
  model: 'scripted/small',
  system: 'You are the vendor desk.',
  user: '{question}',
})

async function play() {
  const store = createMemoryStore()
  const provider = scriptedProvider([create('/memories/terms.md', '2 % in 14 days'), reply('Yes, 2 %.')])
  const providers = [provider]
  const memory = createMemory({
    store,
    agents: { vendor_desk: { scope: 'context', contextKey: 'vendor_no', maxFiles: 50 } },
  })
  const runtime = await createRuntime({ store, providers, agents: [desk], extensions: [memory], plugins: [] })
  const run = await runtime.execute({
    agent: desk,
    input: { question: 'Does V-7 give a discount?' },
    runContext: { vendor_no: 'V-7' },
  })
  const vendor = {
    scope: 'context',
    agentCode: 'vendor_desk',
    contextKey: 'vendor_no',
    contextValue: 'V-7',
  } as const
  const [file] = await memory.listFiles(vendor)
  console.log(file?.path, file?.updated.agent, (await memory.getFile(vendor, '/memories/terms.md'))?.text)
  await memory.putFile(vendor, '/memories/limit.md', 'At most 5 000 without a second person.', { by: 'petra.k' })
  await memory.deleteFile(vendor, '/memories/limit.md')
  await memory.expireFiles(90)
  await memory.purgeAgentMemory('vendor_desk', { sessionIds: [run.sessionId], dryRun: true })
  return { store, runtime, memory, vendor, provider }
}

describe('the README on memory', () => {
  it('its examples are this file', () => {
    const code = (text: string) => text.replaceAll(/\s|[,;()]/g, '')
    const here = code(readFileSync(new URL(import.meta.url), 'utf8'))
    const blocks = [...SECTION.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((block) => block[1] as string)
    expect(blocks).toHaveLength(2)
    for (const block of blocks) expect(here).toContain(code(block))
  })

  it('what it shows works, and names what it says', async () => {
    const printed = vi.spyOn(console, 'log').mockReturnValue()
    const { runtime, memory, vendor, provider } = await play()
    expect(printed.mock.calls).toEqual([['/memories/terms.md', 'vendor_desk', '2 % in 14 days']])
    expect((await memory.listFiles(vendor)).map(({ path }) => path)).toEqual(['/memories/terms.md'])
    await expect(runtime.execute({ agent: desk, input: { question: 'x' } })).rejects.toMatchObject({
      code: 'RUN_CONTEXT_MISSING',
    })
    expect(provider.requests[0]?.messages[0]?.content).toBe(`You are the vendor desk.\n\n${getMemoryProtocol()}`)
    await runtime.close()
  })

  it('the label that it shows is the one that a reader carries', async () => {
    const store = createMemoryStore()
    const memory = createMemory({ store, agents: { vendor_desk: { scope: 'context', contextKey: 'vendor_no' } } })
    const path = '/memories/terms.md'
    const runtime = await createRuntime({
      store,
      providers: [scriptedProvider([create(path, 'x'), use('view', { path }), create('/memories/b', 'x'), reply('.')])],
      agents: [desk],
      extensions: [memory],
      plugins: [],
    })
    await runtime.execute({ agent: desk, input: { question: 'x' }, runContext: { vendor_no: 'V-7' } })
    const vendor = { scope: 'context', agentCode: 'vendor_desk', contextKey: 'vendor_no', contextValue: 'V-7' } as const
    const [label] = (await memory.getFile(vendor, '/memories/b'))?.labels ?? []
    expect(SECTION).toContain(`{ kind: '${label?.kind}', source: '${label?.source}' }`)
    await runtime.close()
  })
})
