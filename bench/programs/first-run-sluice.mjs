// The same with the runtime, its OpenAI adapter and the memory store.
import { createMemoryStore, createRuntime, defineAgent } from '@sluice/core'
import { openai } from '@sluice/providers/openai'

const imported = performance.now()
const runtime = await createRuntime({
  store: createMemoryStore(),
  plugins: [],
  providers: [openai({ baseUrl: process.argv[2], apiKey: 'bench' })],
  agents: [defineAgent({ code: 'a', description: 'A.', model: 'openai/0-rounds', user: '{q}' })],
})
const run = await runtime.execute({ agent: 'a', input: { q: 'go' } })
if (run.text === null) throw new Error('no answer')
console.log(JSON.stringify({ imported, done: performance.now() }))
