// One process: imports the SDK, makes one call, and prints how long both took since the process began.
import OpenAI from 'openai'

const imported = performance.now()
const client = new OpenAI({ apiKey: 'bench', baseURL: process.argv[2] })
const response = await client.responses.create({
  model: '0-rounds',
  input: 'go',
  max_output_tokens: 8192,
  store: false,
})
if (response.output_text === '') throw new Error('no answer')
console.log(JSON.stringify({ imported, done: performance.now() }))
